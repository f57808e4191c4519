#include "Probe/Driver/Plan.h"

#include "Support/Files.h"

#include "llvm/Support/Error.h"

#include <gtest/gtest.h>

using namespace carve;
using namespace carve::probe;

static bool read(Plan &P, const std::string &Text) {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-plan-test"));
  std::string File = Dir.path() + "/plan";
  llvm::cantFail(writeFileAtomically(File, Text));
  return P.read(File.c_str());
}

TEST(Plan, ReadsWhatTheTunerWrites) {
  Plan P;
  ASSERT_TRUE(read(P, "carve-plan\t1\nseed\t9\nreplay-ms\t500\nhang-ms\t20\n"
                      "shape\tk\t1,2,3\t4,5,6\t7\t1,1,1\t12\t1500\n"
                      "kernel\tk\tverify-rotate\tnone\tk__a\tk__b\nexclude\tk\t2\n"
                      "kernel\tl\trotate\trotate\nmeasure\tm\t2\n"
                      "kernel\tm\treplay\tnone\tm__control\tm__memory\n"));
  EXPECT_EQ(P.Seed, 9u);
  EXPECT_EQ(P.ReplayMs, 500u);
  EXPECT_EQ(P.HangMs, 20u);
  const PlannedKernel *K = P.find("k");
  ASSERT_TRUE(K);
  EXPECT_EQ(K->Mode, TimingMode::VerifyRotate);
  EXPECT_FALSE(K->MayRotate);
  EXPECT_EQ(K->Clones, (std::vector<std::string>{"k__a", "k__b"}));
  EXPECT_EQ(K->Excluded, (std::set<size_t>{2}));
  const PlannedShape *S = K->find({{1, 2, 3}, {4, 5, 6}, 7, {1, 1, 1}});
  ASSERT_TRUE(S);
  EXPECT_EQ(S->Launches, 12u);
  EXPECT_NEAR(S->MeanNs, 1500, 1e-9);
  EXPECT_FALSE(K->find({{1, 2, 3}, {4, 5, 6}, 8, {1, 1, 1}}));
  EXPECT_TRUE(K->Measured.empty());
  ASSERT_TRUE(P.find("m"));
  EXPECT_EQ(P.find("m")->Measured, (std::set<size_t>{2}));
  EXPECT_FALSE(P.find("n"));
}

TEST(Plan, WhatIsOnlyMeasuredMayNotRotate) {
  for (const char *Mode : {"rotate\tnone", "verify-rotate\tnone", "replay\trotate"}) {
    Plan P;
    EXPECT_FALSE(
        read(P, std::string("carve-plan\t1\nkernel\tk\t") + Mode + "\tk__a\tk__b\nmeasure\tk\t2\n"))
        << Mode;
  }
}

TEST(Plan, WhatIsHalfUnderstoodIsNotUsed) {
  for (const char *Text :
       {"", "carve-plan\t2\n", "carve-plan\t1\nwhat\t1\n", "carve-plan\t1\nseed\tx\n",
        "carve-plan\t1\nkernel\tk\treplay\n", "carve-plan\t1\nkernel\tk\tsometimes\tnone\n",
        "carve-plan\t1\nshape\tk\t1,1,1\t1,1,1\t0\t1,1,1\t1\t5\n",
        "carve-plan\t1\nkernel\tk\treplay\tnone\nshape\tk\t1,1\t1,1,1\t0\t1,1,1\t1\t5\n",
        "carve-plan\t1\nkernel\tk\treplay\tnone\nshape\tk\t1,1,1\t1,1,1\t0\t1,1,1\t1\t5.\n",
        "carve-plan\t1\nkernel\tk\treplay\tnone\nshape\tk\t1,1,1\t1,1,1\t0\t1,1,1\t1\t5x\n",
        "carve-plan\t1\nkernel\tk\treplay\tnone\nshape\tk\t1,1,1\t1,1,1\t0\t1,1,1\t1\t.5.1\n"}) {
    Plan P;
    EXPECT_FALSE(read(P, Text)) << Text;
  }
  EXPECT_FALSE(Plan().read("/dev/null/nonexistent"));
}
