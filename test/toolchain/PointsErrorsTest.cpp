// What `carve points` reports for wrong words, unreadable files and compiles that fail.
#include "toolchain/PointsFixture.h"

using namespace carve;
using namespace carve::test;

namespace {

class PointsErrors : public PointsFixture {};

const std::string &Inputs = PointsInputs;

TEST_F(PointsErrors, wrongWords_nameActualAndExpected) {
  std::string File = Inputs + "moves.cu";
  auto Contains = [&](std::vector<std::string> Args, const std::string &Text) {
    std::string Message = usageMessage(Args);
    EXPECT_NE(Message.find(Text), std::string::npos) << Message;
  };
  Contains({}, "no file");
  Contains({File, "more.cu"}, "second file 'more.cu'");
  Contains({"--blocks=3", File}, "unknown option '--blocks'; carve points --help lists them");
  Contains({File, "--arch"}, "--arch needs a value: --arch=...");
  Contains({"x.cpp"}, "'x.cpp', expected FILE.cu or FILE.ptx");
  Contains({"--format=xml", File}, "--format is 'xml', expected text or json");
  Contains({"--dynamic-smem=-1", File}, "--dynamic-smem is '-1', expected a whole number");
  Contains({"--dynamic-smem=1k", File}, "--dynamic-smem is '1k'");
  Contains({"--block=", File}, "--block is '', expected a value");
  for (std::string Block : {"0", "x", "32x", "-32", "32x0", "2x2x2x2", "12.5", "256,"})
    Contains({"--block=" + Block, File}, "expected X, XxY or XxYxZ");
  Contains({"--block=1025", File}, "exceeds 1024 in dimension 1");
  Contains({"--block=1x1x65", File}, "exceeds 64 in dimension 3");
  Contains({"--block=512x4", File}, "2048 threads of at most 1024");
  for (std::string Arch : {"sm_60", "90", "sm_90,", "compute_90"})
    Contains({"--arch=" + Arch, File}, "expected one of sm_75, sm_80");
}

TEST_F(PointsErrors, badFiles_failWithTheReason) {
  EXPECT_NE(usageMessage({"--arch=sm_90", Dir->path() + "/absent.cu"}).find("absent.cu"),
            std::string::npos);
  auto Broken = points({"--arch=sm_90", Inputs + "broken.cu"});
  ASSERT_FALSE(bool(Broken));
  handleAllErrors(Broken.takeError(), [](const ToolFailure &F) {
    EXPECT_NE(F.standardError().find("broken.cu(1)"), std::string::npos) << F.standardError();
  });
  auto BadOption = points({"--arch=sm_90", Inputs + "moves.cu", "--", "--no-such-option"});
  ASSERT_FALSE(bool(BadOption));
  handleAllErrors(BadOption.takeError(), [](const ToolFailure &F) {
    EXPECT_NE(F.standardError().find("--no-such-option"), std::string::npos);
  });
  std::string Text = Dir->path() + "/text.ptx", Cut = Dir->path() + "/cut.ptx";
  llvm::cantFail(writeFileAtomically(Text, "no PTX at all\n"));
  EXPECT_NE(usageMessage({Text}).find("no .target"), std::string::npos);
  llvm::cantFail(writeFileAtomically(
      Cut, ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"));
  auto CutShort = points({Cut});
  ASSERT_FALSE(bool(CutShort));
  EXPECT_NE(toString(CutShort.takeError()).find("cut.ptx"), std::string::npos);
}

} // namespace
