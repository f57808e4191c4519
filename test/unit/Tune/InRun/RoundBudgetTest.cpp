#include "Tune/InRun/RoundBudget.h"

#include <gtest/gtest.h>

using namespace carve;

namespace {

/// Little was found, and much is expected of what was not tried.
constexpr GainProspect SearchOn = {.InHand = 0.009, .Promised = 0.02, .Rounds = 1};
/// A gain was found, and little is expected beside it.
constexpr GainProspect ConfirmNow = {.InHand = 0.1, .Promised = 0.004, .Rounds = 1};
/// Nothing was found, and something is expected of what was not tried.
constexpr GainProspect NothingYet = {.Promised = 0.02, .Rounds = 2};

} // namespace

TEST(GainProspect, search_isFavouredIfItPromisesMoreThanIsInHand) {
  EXPECT_TRUE(SearchOn.favoursSearch());
  EXPECT_FALSE(ConfirmNow.favoursSearch());
  EXPECT_TRUE((GainProspect{.InHand = 0.015, .Promised = 0.08}).favoursSearch());
  EXPECT_FALSE((GainProspect{.InHand = 0.015, .Promised = 0.07}).favoursSearch())
      << "what is in hand is not risked";
  EXPECT_TRUE((GainProspect{.InHand = 0.04, .Promised = 0.005}).favoursSearch())
      << "two pairs confirm what is in hand";
  EXPECT_TRUE((GainProspect{.InHand = 0.02, .Promised = 0.005}).favoursSearch());
  EXPECT_FALSE((GainProspect{.InHand = 0.0199, .Promised = 0.005}).favoursSearch());
  EXPECT_FALSE((GainProspect{.InHand = 0.04, .Promised = 0.02, .ByRuns = 0.01}).favoursSearch())
      << "whole runs need the time";
  EXPECT_FALSE((GainProspect{.InHand = 0, .Promised = 0.0019}).favoursSearch())
      << "it is not worth a run";
  EXPECT_FALSE(GainProspect().favoursSearch()) << "nothing is known before the first round";
}

TEST(GainProspect, promise_countsAsMuchAsEarlierOnesWereKept) {
  GainProspect First = GainProspect().next(0.06, 0.1);
  EXPECT_DOUBLE_EQ(First.Promised, 0.1) << "nothing was promised before";
  EXPECT_DOUBLE_EQ(First.next(0.11, 0.08).Promised, 0.04) << "half of 0.1 was kept";
  EXPECT_DOUBLE_EQ(First.next(0.3, 0.08).Promised, 0.08);
  GainProspect Nothing = First.next(0.05, 0.04);
  EXPECT_DOUBLE_EQ(Nothing.Promised, 0.004);
  EXPECT_FALSE(Nothing.favoursSearch());
  EXPECT_DOUBLE_EQ(Nothing.next(0.12, 0.1).Promised, 0.05) << "0.07 of 0.14 was kept";
}

/// Where whole runs lose their time, a round that has found something still counts as kept.
TEST(GainProspect, wholeRunsWithoutTime_promiseNothingBesideANominee) {
  GainProspect First = GainProspect().next(0.02, 0.04, 0.04);
  EXPECT_DOUBLE_EQ(First.InHand, 0.06);
  EXPECT_DOUBLE_EQ(First.nominated(), 0.02);
  GainProspect Second = First.next(0.05, 0.03, 0.04, /*RunsHaveTime=*/false);
  EXPECT_DOUBLE_EQ(Second.InHand, 0.05);
  EXPECT_DOUBLE_EQ(Second.ByRuns, 0);
  EXPECT_NEAR(Second.Promised, 0.03 * 0.03 / 0.04, 1e-12) << "0.03 of 0.04 was kept";
  EXPECT_TRUE(Second.favoursSearch());
  EXPECT_FALSE(First.next(0.05, 0.03, 0.04).favoursSearch()) << "whole runs need the time";
  EXPECT_DOUBLE_EQ(GainProspect().next(0, 0, 0.04, false).ByRuns, 0.04)
      << "nothing else is confirmed";
}

TEST(RoundBudget, timeForTheShortestConfirmation_isKept) {
  RoundBudget B{20, 1};
  // A twentieth for the rest, six runs to confirm, one run of the round itself: twelve are left.
  EXPECT_DOUBLE_EQ(B.forRound(0, false, ConfirmNow), 6);
  EXPECT_EQ(B.forRound(12, false, ConfirmNow), 0);
  EXPECT_EQ(B.forRound(30, false), 0) << "the budget is spent";
}

TEST(RoundBudget, lastRoundThatFits_takesAllThatIsLeft) {
  RoundBudget B{20, 1};
  EXPECT_DOUBLE_EQ(B.forRound(9, false, ConfirmNow), 1.5)
      << "the other half has time for a further round";
  EXPECT_DOUBLE_EQ(B.forRound(10, false, ConfirmNow), 2)
      << "half of it would be a plain run and nothing else";
}

TEST(RoundBudget, hardlyMoreThanARun_isNoRound) {
  RoundBudget B{20, 1};
  EXPECT_NEAR(B.forRound(11.7, false, ConfirmNow), 0.3, 1e-9);
  EXPECT_EQ(B.forRound(11.8, false, ConfirmNow), 0) << "a fifth of a run";
  EXPECT_EQ(B.forRound(11.8, true, ConfirmNow), 1) << "the first round has some time";
}

TEST(RoundBudget, searchPromisesMore_onlyTwoPairsAreSetAside) {
  RoundBudget B{20, 1};
  EXPECT_EQ(B.forRound(12, false, ConfirmNow), 0);
  EXPECT_DOUBLE_EQ(B.forRound(12, false, SearchOn), 2);
  EXPECT_EQ(B.forRound(14, false, SearchOn), 0) << "the confirmation ends within the budget";
}

/// Most of what a tuning finds, its first round finds. What is set aside for it does not depend on
/// whether three pairs would leave time for two rounds.
TEST(RoundBudget, beforeTheFirstRound_onlyTwoPairsAreSetAside) {
  for (double PlainS : {0.5, 1.7, 1.8, 3.0})
    EXPECT_DOUBLE_EQ((RoundBudget{20, PlainS}).confirmationS({}), 4 * PlainS);
  EXPECT_DOUBLE_EQ((RoundBudget{20, 1.7}).confirmationS(ConfirmNow), 6 * 1.7);
}

TEST(RoundBudget, nothingIsInHand_onlyTheFewestRunsAreSetAside) {
  RoundBudget B{20, 1};
  EXPECT_EQ(B.confirmationS(NothingYet), 3);
  EXPECT_EQ(B.confirmationS(GainProspect().next(0.001, 0.02)), 3) << "too little to confirm";
  EXPECT_EQ(B.confirmationS(GainProspect().next(0.003, 0.02)), 4);
  EXPECT_EQ(B.confirmationS(GainProspect().next(0, 0.02, 0.003)), 4) << "whole runs may find it";
  EXPECT_EQ(B.confirmationS(GainProspect().next(0, 0.001)), 6) << "the search is over";
}

TEST(RoundBudget, muchIsInHand_onlyTheFewestRunsAreSetAside) {
  RoundBudget B{20, 1};
  EXPECT_EQ(B.confirmationS({.InHand = 0.045, .Promised = 0.01, .Rounds = 1}), 4);
  EXPECT_EQ(B.confirmationS({.InHand = 0.06, .Promised = 0.01, .Rounds = 1}), 3);
  EXPECT_EQ(B.confirmationS({.InHand = 0.06, .Promised = 0.001, .Rounds = 1}), 6)
      << "the search is over";
  EXPECT_EQ((RoundBudget{20, 2}).confirmationS({.InHand = 0.06, .Rounds = 1}), 6)
      << "three runs of 2 s";
  EXPECT_EQ((RoundBudget{20, 2}).confirmationS({.InHand = 0.1, .ByRuns = 0.06, .Rounds = 1}), 8)
      << "no timing run has found the half of it";
}

/// FDTD3d had 58 % in hand after its first round of 7.8 s, and runs of 2.44 s.
TEST(RoundBudget, veryMuchIsInHand_onlyOnePairIsSetAside) {
  RoundBudget B{20, 2.44};
  const GainProspect Much = {.InHand = 0.58, .Promised = 0.6, .ByOnePair = 0.58, .Rounds = 1};
  EXPECT_DOUBLE_EQ(B.confirmationS(Much), 2 * 2.44);
  EXPECT_GT(B.forRound(8.6, /*First=*/false, Much), 2) << "a second one has time";
  GainProspect Other = Much;
  Other.InHand = Other.ByOnePair = 0.19;
  EXPECT_DOUBLE_EQ(B.confirmationS(Other), 3 * 2.44);
  Other = {.InHand = 0.45, .Promised = 0.2, .ByOnePair = 0.21, .Rounds = 1};
  EXPECT_DOUBLE_EQ(B.confirmationS(Other), 3 * 2.44) << "a pair would lose more than is promised";
  Other.Promised = 0.25;
  EXPECT_DOUBLE_EQ(B.confirmationS(Other), 2 * 2.44);
  Other = Much;
  Other.Promised = 0.004;
  EXPECT_DOUBLE_EQ(B.confirmationS(Other), 3 * 2.44) << "the search is over";
  EXPECT_DOUBLE_EQ((RoundBudget{20, 0.5}).confirmationS(Much), 3) << "short runs cost little";
}

/// Of 0.5 s more or less of a process's start, a pair of short runs hardly survives one.
TEST(RoundBudget, shortProgram_keepsTimeForThreePairs) {
  const GainProspect Much = {.InHand = 0.066, .Promised = 0.025, .Rounds = 4};
  EXPECT_DOUBLE_EQ((RoundBudget{20, 0.5}).confirmationS(Much), 3) << "three pairs";
  EXPECT_DOUBLE_EQ((RoundBudget{20, 0.2}).confirmationS(Much), 6 * 0.2);
  EXPECT_DOUBLE_EQ((RoundBudget{20, 0.8}).confirmationS(Much), 3) << "15 % of 20 s";
  EXPECT_DOUBLE_EQ((RoundBudget{20, 1.2}).confirmationS(Much), 3 * 1.2) << "the fewest runs";
  EXPECT_DOUBLE_EQ((RoundBudget{20, 0.5}).confirmationS(SearchOn), 3);
  EXPECT_DOUBLE_EQ((RoundBudget{20, 0.5}).confirmationS(NothingYet), 3);
}

/// What is in hand is risked by each round: runs may take longer than was planned.
TEST(RoundBudget, twoRoundsFindNothing_isNoReasonToSearchOn) {
  GainProspect P = GainProspect().next(0.23, 0.8);
  EXPECT_EQ(P.Idle, 0u) << "the first round";
  P = P.next(0.231, 0.5);
  EXPECT_EQ(P.Idle, 1u);
  EXPECT_TRUE(P.favoursSearch());
  EXPECT_EQ(P.next(0.24, 0.5).Idle, 0u) << "1 % more";
  P = P.next(0.231, 0.5);
  EXPECT_GT(P.Promised, 0.02);
  EXPECT_FALSE(P.favoursSearch());
  EXPECT_EQ((RoundBudget{20, 1}).confirmationS(P), 6);
  GainProspect Little = GainProspect().next(0.005, 0.8).next(0.005, 0.8).next(0.005, 0.8);
  EXPECT_TRUE(Little.favoursSearch()) << "hardly anything is at risk";
}

TEST(RoundBudget, longProgram_onlyTwoPairsAreSetAside) {
  // 19 s without the margin. Eleven runs of 1.7 s fit, eleven of 1.8 s do not.
  EXPECT_NEAR((RoundBudget{20, 1.7}).forRound(1.7, false, ConfirmNow), (19 - 1.7 - 7 * 1.7) / 2,
              1e-9);
  EXPECT_NEAR((RoundBudget{20, 1.8}).forRound(1.8, false, {.InHand = 0.01, .Rounds = 1}),
              (19 - 1.8 - 5 * 1.8) / 2, 1e-9);
}

TEST(RoundBudget, firstRound_hasSomeTimeInAnyCase) {
  EXPECT_DOUBLE_EQ((RoundBudget{1, 0.1}).forRound(5, true), 1);
  EXPECT_DOUBLE_EQ((RoundBudget{20, 10}).forRound(10, true), 5);
}

TEST(RoundBudget, longReplays_haveTheTimeOfWholeRuns) {
  RoundBudget B{20, 1};
  // Of 12 s without a confirmation, a round has half, of which 0.3 are for compiling.
  EXPECT_DOUBLE_EQ(B.forLongReplays(0, false, ConfirmNow), 12 - 0.3 * 6);
  EXPECT_DOUBLE_EQ(B.forLongReplays(13, false, ConfirmNow), 0);
  EXPECT_DOUBLE_EQ(B.forLongReplays(0, true), 17 - 0.3 * 7) << "a single run is enough";
  EXPECT_DOUBLE_EQ(B.forLongReplays(17, true), 0.4) << "the first round has some time";
}

TEST(RoundBudget, shortestReplay_takesWhatEarlierOnesTook) {
  ReplayCosts Costs;
  double Short = shortestReplayS(10, 1e6);
  Costs.SaveNs = 1e9;
  EXPECT_NEAR(shortestReplayS(10, 1e6, Costs), Short + 1, 1e-9);
  Costs.ComparedRuns = 3;
  EXPECT_NEAR(comparisonS(10, 1e6, Costs), 1 + 34 * 6e-3, 1e-9);
  // Each variant of a long launch is run once; three more rounds compare the best.
  EXPECT_NEAR(shortestReplayS(10, 200e6), (10 + 4) * 0.205 + 9 * 0.2003, 1e-9);
}

TEST(RoundBudget, replaysAfterALongCompile_takeWhatTheyWerePlannedWith) {
  RoundBudget B{20, 1};
  // Planned as 0.4 of 6 s at the beginning; four seconds later half of what is left is 4 s.
  EXPECT_DOUBLE_EQ(B.forReplays(0, false, 0, ConfirmNow), 0.4 * 6);
  EXPECT_DOUBLE_EQ(B.forReplays(4, false, 2.4, ConfirmNow), 2.4);
  EXPECT_DOUBLE_EQ(B.forReplays(4, false, 0, ConfirmNow), 0.4 * 4) << "nothing was planned";
  EXPECT_DOUBLE_EQ(B.forReplays(10.5, false, 2.4, ConfirmNow), 1.5)
      << "the confirmation's time is kept";
  EXPECT_DOUBLE_EQ(B.forReplays(10.5, false, 2.4, SearchOn), 2.4);
  EXPECT_EQ(B.forReplays(13, false, 2.4, ConfirmNow), 0) << "nothing is left";
  EXPECT_DOUBLE_EQ(B.forReplays(13, true, 0.2), 0.4) << "the first round has some time";
}

TEST(RoundBudget, lateFrontEnds_haveTheTimeThatNoModuleTakes) {
  // A round of 5 s compiles for 1.5 s, replays for 2 s, and has as long to assemble as to compile.
  EXPECT_NEAR(patienceS(1.5, 0), 1.5, 1e-9);
  EXPECT_NEAR(patienceS(1.5, 0.4), 1.1, 1e-9);
  EXPECT_EQ(patienceS(1.5, 2), 0);
}

TEST(RoundBudget, settingsOfARound_areAsManyAsCanBeAssembled) {
  EXPECT_EQ(settingsFor(1.5, 0.1), 15u);
  EXPECT_EQ(settingsFor(1.5, 3), 4u) << "something is always tried";
  EXPECT_EQ(settingsFor(0, 0.1), 4u);
  EXPECT_GT(settingsFor(0, 0), 100000u) << "it is not known what they take";
  EXPECT_GT(settingsFor(1.5, 1e-12), 100000u);
}
