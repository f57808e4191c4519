#include "Tune/InRun/LeftOverVariants.h"

#include "Tune/Selection/Selection.h"

#include <gtest/gtest.h>

using namespace carve;

using Places = std::vector<size_t>;

namespace {

/// Two kernels, of which the first had variants 2 to 4 in a run that had time for 2 alone.
class LeftOverVariantsTest : public testing::Test {
protected:
  LeftOverVariantsTest() {
    for (size_t V : {2, 3, 4})
      Left.noteRun(0, V, /*Assembled=*/true);
    Outcome.Ratios = {1, 1, 0.9, 0, 0};
  }

  LeftOverVariants Left{2};
  InRunOutcome Outcome;
};

} // namespace

TEST_F(LeftOverVariantsTest, notTimed_comeAgainOnce) {
  EXPECT_EQ(Left.of(0, Outcome), (Places{3, 4}));
  EXPECT_EQ(Left.of(1, Outcome), Places()) << "it was in no run";
  for (size_t V : Left.of(0, Outcome))
    Left.noteRun(0, V, /*Assembled=*/true);
  EXPECT_EQ(Left.of(0, Outcome), Places());
}

TEST_F(LeftOverVariantsTest, notAssembled_doesNotComeAgain) {
  Left.noteRun(0, 5, /*Assembled=*/false);
  EXPECT_EQ(Left.of(0, Outcome), (Places{3, 4}));
}

TEST_F(LeftOverVariantsTest, rejected_doesNotComeAgain) {
  Outcome.Rejected = {{3, "it differs"}};
  EXPECT_EQ(Left.of(0, Outcome), Places{4});
}

TEST_F(LeftOverVariantsTest, newInALaterRun_isNotCountedAsTimed) {
  Left.noteRun(0, 7, /*Assembled=*/true);
  EXPECT_EQ(Left.of(0, Outcome), (Places{3, 4, 7})) << "there is no ratio of it yet";
}

TEST_F(LeftOverVariantsTest, kernelThatTheProbeRefuses_hasNone) {
  Outcome.NotReplayed = "writes-host-memory";
  EXPECT_EQ(Left.of(0, Outcome), Places());
  Outcome.NotReplayed = BudgetReason;
  EXPECT_EQ(Left.of(0, Outcome), (Places{3, 4})) << "another run may have time for it";
}

TEST_F(LeftOverVariantsTest, moreThanThereIsTimeFor_onlySoManyComeAgain) {
  Left.giveUpBeyond(2, 0, Outcome);
  EXPECT_EQ(Left.of(0, Outcome), (Places{3, 4}));
  Left.giveUpBeyond(1, 0, Outcome);
  EXPECT_EQ(Left.of(0, Outcome), Places{3});
  Left.giveUpBeyond(0, 0, Outcome);
  EXPECT_EQ(Left.of(0, Outcome), Places());
}

/// If a round has no time for the kernel, the next one must not begin for its sake.
TEST_F(LeftOverVariantsTest, givenUp_hasNone) {
  Left.noteRun(1, 2, /*Assembled=*/true);
  Left.giveUp(0);
  EXPECT_EQ(Left.of(0, Outcome), Places());
  EXPECT_EQ(Left.of(1, InRunOutcome()), Places{2}) << "the other kernel";
}
