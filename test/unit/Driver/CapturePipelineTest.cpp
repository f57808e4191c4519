#include "Driver/CapturePipeline.h"

#include "gtest/gtest.h"

using namespace carve;

namespace {

KernelLaunches launches(const std::string &Kernel, unsigned Grid, uint64_t Count, uint64_t Ns) {
  KernelLaunches K;
  K.Kernel = Kernel;
  K.Shape.Grid = {Grid, 1, 1};
  K.Launches = Count;
  K.TotalNs = Ns;
  return K;
}

ProbeRecord trace() {
  ProbeRecord R;
  R.Processes = 1;
  R.Kernels = {launches("a", 1, 100, 3000), launches("a", 2, 10, 5000), launches("b", 3, 1, 900),
               launches("rare", 4, 1, 10)};
  return R;
}

constexpr auto All = [](llvm::StringRef) { return true; };

} // namespace

TEST(CapturePipeline, TheDominatingShapeFromTheMiddle) {
  std::vector<CaptureWish> W = chooseLaunches(trace(), {}, All);
  ASSERT_EQ(W.size(), 2u) << "the third is below 1 %";
  EXPECT_EQ(W[0].Kernel, "a");
  EXPECT_EQ(W[0].Shape.Grid[0], 2u);
  EXPECT_EQ(W[0].Launch, 5u);
  EXPECT_EQ(W[1].Kernel, "b");
  EXPECT_EQ(W[1].Launch, 0u);
}

TEST(CapturePipeline, SeveralLaunchesAreSpread) {
  CaptureRequest Request;
  Request.Launches = 3;
  std::vector<CaptureWish> W = chooseLaunches(trace(), Request, All);
  ASSERT_EQ(W.size(), 4u) << "b has one launch";
  EXPECT_EQ(W[0].Launch, 1u);
  EXPECT_EQ(W[1].Launch, 5u);
  EXPECT_EQ(W[2].Launch, 8u);
}

TEST(CapturePipeline, OnlyWhatIsWantedAndWithinOneProcess) {
  ProbeRecord R = trace();
  R.Processes = 4;
  std::vector<CaptureWish> W =
      chooseLaunches(R, {}, [](llvm::StringRef Kernel) { return Kernel == "a"; });
  ASSERT_EQ(W.size(), 1u);
  EXPECT_EQ(W[0].Launch, 1u);
}

TEST(CapturePipeline, FileNames) {
  EXPECT_EQ(captureName({"_Z5scalePff", {{128, 1, 1}, {256, 1, 1}}, 0}), "scale-128-256");
  EXPECT_EQ(captureName({"_ZN2ns3fooIiEEvv", {{1, 2, 1}, {8, 8, 4}}, 0}), "foo-1x2-8x8x4");
  EXPECT_EQ(captureName({"plain", {{1, 1, 3}, {1, 1, 1}}, 0}), "plain-1x1x3-1");
}
