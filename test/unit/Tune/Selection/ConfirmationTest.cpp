// Simulates confirmations with scatter that was recorded on a GPU. Seeds are fixed, so the numbers
// are the same in every run.
#include "RecordedScatter.h"
#include "SimulatedWorld.h"

#include "Tune/InRun/InRunSelection.h"
#include "Tune/Selection/PairedTimes.h"

#include <cmath>
#include <cstdio>

using namespace carve;
using Chosen = std::vector<size_t>;

namespace {

/// How many simulated confirmations of one nominee ended with it, and after how many pairs.
struct Trials {
  double Wins = 0; ///< Share, 0 to 1.
  double MeanPairs = 0;
};

/// Confirms \p Count times a nominee that takes \p Ratio of the default's time.
Trials confirmNominee(const RecordedScatter &Scatter, double Ratio, unsigned Count, uint64_t Seed) {
  std::mt19937_64 Random(Seed);
  Trials T;
  for (unsigned I = 0; I < Count; ++I) {
    SimulatedWorld W;
    W.add({Ratio});
    W.Scatter = [&] { return Scatter.draw(Random); };
    W.Noise = 0.002; // Of the wall time.
    SelectionOutcome O = W.select({}, {{"s", 3, 2}});
    T.Wins += W.chosen(O)[0] == 2;
    T.MeanPairs += O.PairsMade;
  }
  return {T.Wins / Count, T.MeanPairs / Count};
}

} // namespace

TEST(Confirmation, falseWinners_recordedScatter_areBelowOnePercent) {
  if (CARVE_TEST_SANITIZED)
    GTEST_SKIP() << "a simulation, for the optimised build";
  for (const RecordedScatter &Scatter : recordedScatter()) {
    ASSERT_GE(Scatter.Deviations.size(), 6u) << Scatter.Name;
    Trials Null = confirmNominee(Scatter, 1.0, 4000, 1);
    EXPECT_LT(Null.Wins, 0.01) << Scatter.Name;
    EXPECT_LT(Null.MeanPairs, 6) << Scatter.Name;
  }
}

/// A gain below half a percent hardly ever wins, whatever its scatter. It is a gain all the same,
/// so that such a winner is not a false one.
TEST(Confirmation, gainBelowHalfAPercent_recordedScatter_doesNotWin) {
  if (CARVE_TEST_SANITIZED)
    GTEST_SKIP() << "a simulation, for the optimised build";
  for (const RecordedScatter &Scatter : recordedScatter())
    EXPECT_LT(confirmNominee(Scatter, 0.997, 1000, 2).Wins, 0.02) << Scatter.Name;
}

/// Prints the power of the confirmation and the mean number of its pairs: a table in
/// share/doc/timing.md.
TEST(Confirmation, power_growsWithTheGain_pairsBecomeFew) {
  if (CARVE_TEST_SANITIZED)
    GTEST_SKIP() << "a simulation, for the optimised build";
  constexpr double Gains[] = {0.005, 0.0075, 0.01, 0.02, 0.05, 0.20};
  std::printf("share of winners that are found, and mean pairs, by gain\n%-20s", "");
  for (double Gain : Gains)
    std::printf("%10.2f %%", 100 * Gain);
  for (const RecordedScatter &Scatter : recordedScatter()) {
    std::printf("\n%-20s", Scatter.Name.c_str());
    double Before = 0;
    for (double Gain : Gains) {
      Trials T = confirmNominee(Scatter, 1 - Gain, 150, 3);
      std::printf("%5.0f %% %4.1f", 100 * T.Wins, T.MeanPairs);
      EXPECT_GE(T.Wins, Before - 0.05) << Scatter.Name << " " << Gain;
      Before = T.Wins;
      bool Quiet = Scatter.Name == "quantization" || Scatter.Name == "dilate";
      EXPECT_TRUE(!Quiet || Gain < 0.0075 || T.Wins >= 0.98) << Scatter.Name << " " << Gain;
      EXPECT_TRUE(!Quiet || Gain < 0.02 || T.MeanPairs <= 3.1) << Scatter.Name << " " << Gain;
      if (Gain >= 0.20) {
        EXPECT_GE(T.Wins, 0.98) << Scatter.Name;
        EXPECT_LE(T.MeanPairs, 4) << Scatter.Name;
      }
    }
  }
  std::printf("\n");
}

TEST(Confirmation, sumAgreesWithThePrediction_smallWinnersNeedFewerPairs) {
  unsigned BySum = 0, Pairs[2] = {0, 0};
  for (uint64_t Seed = 1; Seed <= 40; ++Seed)
    for (bool WithPrediction : {true, false}) {
      SimulatedWorld W = fiveKernels(0.985);
      W.seed(Seed);
      std::vector<SubjectSpace> Spaces = predicted({0.8, 0.985, 0.985, 0.985, 0.985});
      if (!WithPrediction)
        for (SubjectSpace &S : Spaces)
          S.Predicted = 0;
      SelectionOutcome O = W.select({}, Spaces);
      Pairs[WithPrediction] += O.PairsMade;
      BySum += O.End == ConfirmationEnd::Sum;
      if (!WithPrediction) {
        EXPECT_NE(O.End, ConfirmationEnd::Sum);
        continue;
      }
      EXPECT_TRUE(O.End != ConfirmationEnd::Sum || O.Pairs > 0);
      EXPECT_EQ(W.chosen(O)[0], 2u);
    }
  EXPECT_GT(BySum, 25u);
  EXPECT_LT(Pairs[true], 0.75 * Pairs[false]);
}

TEST(Confirmation, sumIsNotThePrediction_undecidedWinnersAreConfirmedAlone) {
  for (uint64_t Seed = 1; Seed <= 10; ++Seed) {
    SimulatedWorld W = fiveKernels(0.985);
    W.seed(Seed);
    // The timing run promised much more of the first kernel.
    SelectionOutcome O = W.select({}, predicted({0.5, 0.985, 0.985, 0.985, 0.985}));
    EXPECT_NE(O.End, ConfirmationEnd::Sum);
    EXPECT_EQ(W.chosen(O)[0], 2u);
  }
}

/// A timing run nominates a variant without gain for at most one kernel of twenty
/// (InRunLimits::Alpha). Even beside true winners, few of these are accepted.
TEST(Confirmation, falseNominee_besideTrueWinners_isRarelyAccepted) {
  if (CARVE_TEST_SANITIZED)
    GTEST_SKIP() << "a simulation, for the optimised build";
  constexpr unsigned Worlds = 2000;
  for (double Noise : {0.001, 0.003, 0.01}) {
    unsigned Accepted = 0;
    for (uint64_t Seed = 1; Seed <= Worlds; ++Seed) {
      SimulatedWorld W = fiveKernels(0.97);
      W.Noise = Noise;
      W.seed(Seed);
      W.Subjects.back().Ratios[2] = 1.0;
      SelectionOutcome O = W.select({}, predicted({0.8, 0.97, 0.97, 0.97, 0.97}));
      Accepted += W.chosen(O).back() == 2;
    }
    double Share = double(Accepted) / Worlds;
    EXPECT_LT(Share * InRunLimits().Alpha, 0.002) << Noise;
    EXPECT_LT(Share, 0.04) << Noise;
  }
}

TEST(Confirmation, noEarlierRun_takesFourPairs) {
  SimulatedWorld W;
  W.add({0.8});
  W.Traced = false;
  SelectionOutcome O = W.select({}, {{"s", 3, 2}});
  EXPECT_EQ(W.chosen(O), Chosen{2});
  EXPECT_EQ(O.Pairs, 4u);
}

TEST(Confirmation, earlierRunWasSlower_takesMorePairs) {
  for (bool Slower : {false, true}) {
    SimulatedWorld W;
    W.add({0.96});
    W.Traced = false;
    std::vector<SubjectSpace> Spaces = {{"s", 3, 2}};
    Spaces[0].EarlierNs = {Slower ? 1.05e6 : 1.0005e6};
    SelectionOutcome O = W.select({}, Spaces);
    EXPECT_EQ(W.chosen(O), Chosen{2});
    if (Slower)
      EXPECT_GT(O.Pairs, 3u);
    else
      EXPECT_EQ(O.Pairs, 3u);
  }
}

TEST(Confirmation, undecidedAtThePairLimit_keepsTheDefaultAndOthersWin) {
  SimulatedWorld W;
  W.Noise = 0.0005;
  W.add({0.8});
  W.add({0.97});
  // The second kernel's times vary by the pair, by more than it gains.
  W.Twist = [&](size_t Run, const Assignment &A, RunSample &Sample) {
    if (!A.empty() && A[1] == 2)
      Sample.SubjectNs[1] *= Run % 8 < 4 ? 1.018 : 0.97;
  };
  SelectionLimits Limits;
  Limits.MaxConfirmationPairs = 9;
  SelectionOutcome O = W.select(Limits, {{"a", 3, 2}, {"b", 3, 2}});
  EXPECT_EQ(W.chosen(O), (Chosen{2, 0}));
  EXPECT_TRUE(llvm::StringRef(O.Subjects[1].Reason).starts_with("not confirmed: "))
      << O.Subjects[1].Reason;
  EXPECT_EQ(O.Pairs, 3u);
  EXPECT_GT(O.PairsMade, 3u + 3u);
  EXPECT_LE(O.PairsMade, 9u + 3u);
}

/// Winners are not lost because another candidate is undecided when the time is up, or has lost.
/// The times of the pairs that there are say what they gain without it.
TEST(Confirmation, budgetEndsBesideOthers_winnersWin) {
  for (double Other : {0.985, 1.02}) {
    SimulatedWorld W;
    W.add({0.8});
    W.add({Other});
    W.Noise = 0.004;
    SelectionOutcome O = W.select(timeForRuns(7, W), {{"a", 3, 2}, {"b", 3, 2}});
    EXPECT_EQ(W.chosen(O), (Chosen{2, 0}));
    EXPECT_EQ(O.Subjects[1].Reason == BudgetReason, Other < 1) << O.Subjects[1].Reason;
    EXPECT_EQ(O.Runs, 6u);
    EXPECT_EQ(O.PairsMade, 3u);
    EXPECT_NEAR(O.Program.Median, (0.8 + 1 + 1) / 3, 0.01) << "without the other one";
  }
}

/// As long as there is time, the winners are confirmed as they are kept.
TEST(Confirmation, timeIsLeftBesideLosers_winnersAreConfirmedAgain) {
  SimulatedWorld W;
  W.add({0.8});
  W.add({1.02});
  SelectionOutcome O = W.select(timeForRuns(40, W), {{"a", 3, 2}, {"b", 3, 2}});
  EXPECT_EQ(W.chosen(O), (Chosen{2, 0}));
  EXPECT_GE(O.PairsMade, 6u);
  EXPECT_EQ(W.Log.back().size() < 2 ? W.Log[W.Log.size() - 2] : W.Log.back(), (Assignment{2, 0}));
}

/// The start of a program may take twice as long in some runs as in others. By chance these may be
/// the three tuned ones, but then a run of the untouched program has shown it, too.
TEST(Confirmation, wallTimeGrows_countsIfNoRunOfTheDefaultTookAsLong) {
  for (double Plain : {0.0, 1.4, 2.0}) {
    SimulatedWorld W;
    W.OtherNs = 0;
    W.add({0.8});
    W.Twist = [&](size_t Run, const Assignment &A, RunSample &Sample) {
      Sample.WallS = (!A.empty() && A[0] == 2 ? 1.6 : 1) + 0.01 * double(Run % 3);
      Sample.SpanNs = 1e9 * Sample.WallS;
    };
    SelectionLimits Limits;
    Limits.PlainWallS = Plain;
    Limits.MaxConfirmationPairs = 3;
    SelectionOutcome O = W.select(Limits, compared({0.8}));
    EXPECT_GT(O.Wall.Low, 1);
    EXPECT_EQ(W.chosen(O), Chosen{Plain == 2.0 ? 2u : 0u}) << Plain;
  }
}

/// A pair does not decide alone after the next one had a fault whose cause was not found.
TEST(Confirmation, faultInTheSecondPair_causeIsNotFound_nothingWins) {
  SimulatedWorld W;
  W.OtherNs = 0;
  W.add({0.8});
  W.add({0.8});
  W.Twist = [](size_t Run, const Assignment &, RunSample &Sample) {
    if (Run >= 3)
      Sample.Fault = "line 1 differs";
  };
  EXPECT_EQ(W.chosen(W.select(timeForRuns(6.5, W), compared({0.8, 0.8}))), (Chosen{0, 0}));
}

/// The run that was right without the candidate at fault makes a pair with the default's.
TEST(Confirmation, faultInTheFirstPair_theRunWithoutItCounts) {
  for (double Seconds : {3.5, 4.5, 9.0, 60.0}) {
    SCOPED_TRACE(Seconds);
    SimulatedWorld W;
    W.OtherNs = 0;
    W.add({0.8});
    W.add({0.7});
    W.Faults[{1, 2}] = "line 1 differs";
    std::vector<SubjectSpace> Spaces = compared({0.8, 0.7});
    Spaces[1].Varies = true;
    SelectionOutcome O = W.select(timeForRuns(Seconds, W), Spaces);
    EXPECT_EQ(W.chosen(O), (Chosen{2, 0}));
    EXPECT_EQ(O.Pairs, Seconds < 4 ? 1u : Seconds < 5 ? 2u : 3u);
    EXPECT_EQ(O.PairsMade, O.Pairs);
    EXPECT_EQ(O.Runs, Seconds < 4 ? 3u : Seconds < 5 ? 4u : 7u);
    EXPECT_NEAR(O.Program.Median, 0.9, 0.01) << "only the first gains";
    Spaces[0].Compared = false;
    W.Log.clear();
    EXPECT_EQ(W.chosen(W.select(timeForRuns(3.5, W), Spaces)), (Chosen{0, 0}));
  }
}

/// What two full pairs say is not given up for three runs.
TEST(Confirmation, faultInTheThirdPair_timeForThreeRuns_thePairsDecide) {
  for (double Seconds : {8.0, 9.0, 10.0}) {
    SCOPED_TRACE(Seconds);
    SimulatedWorld W;
    W.OtherNs = 0;
    W.add({0.965});
    W.add({0.9});
    W.Twist = [](size_t Run, const Assignment &A, RunSample &Sample) {
      if (Run == 4 && !A.empty() && A[1] == 2)
        Sample.Fault = "line 10 differs";
    };
    std::vector<SubjectSpace> Spaces = predicted({0.965, 0.9});
    Spaces[1].Varies = true;
    EXPECT_EQ(W.chosen(W.select(timeForRuns(Seconds, W), Spaces)), (Chosen{2, 0}));
  }
}

/// What causes a fault is looked for within the budget only.
TEST(Confirmation, faultAtTheEndOfTheBudget_isNotLookedFor) {
  SimulatedWorld W;
  W.add({0.8});
  W.add({0.8});
  W.Faults[{1, 2}] = "its output differs";
  for (double Seconds : {3.0, 60.0}) {
    W.Log.clear();
    SelectionOutcome O = W.select(timeForRuns(Seconds, W), {{"a", 3, 2}, {"b", 3, 2}});
    EXPECT_EQ(W.chosen(O), Seconds > 3 ? (Chosen{2, 0}) : (Chosen{0, 0}));
    if (Seconds > 3)
      continue;
    EXPECT_EQ(O.Runs, 3u);
    EXPECT_EQ(O.Subjects[0].Reason, "the budget left no time to find which variant caused a fault: "
                                    "its output differs");
  }
}

TEST(Confirmation, faultNearTheEndOfTheBudget_noRunIsBegunAfterIt) {
  for (double Seconds : {3.0, 4.0, 5.0, 6.0, 7.0, 60.0}) {
    SCOPED_TRACE(Seconds);
    SimulatedWorld W;
    for (int I = 0; I < 4; ++I)
      W.add({0.8});
    W.Faults[{3, 2}] = "its output differs";
    SelectionOutcome O =
        W.select(timeForRuns(Seconds, W), {{"a", 3, 2}, {"b", 3, 2}, {"c", 3, 2}, {"d", 3, 2}});
    EXPECT_LE(O.Runs, Seconds);
    EXPECT_EQ(W.chosen(O), Seconds < 60 ? Chosen(4, 0) : (Chosen{2, 2, 2, 0}));
    const char *Reason = Seconds == 60 ? "its variant was rejected: its output differs"
                         : Seconds < 5
                             ? "the budget left no time to find which variant caused a fault: "
                               "its output differs"
                             : nullptr;
    if (Reason) {
      EXPECT_EQ(O.Subjects[3].Reason, Reason);
    }
  }
}

/// A kernel whose default varies by itself is suspected first: the run that leaves it out tells.
/// The pairs before are enough for the others if no time is left and their own times prove a gain.
TEST(Confirmation, faultThatComesLate_isOfTheKernelThatVaries) {
  for (bool SteadyIsAtFault : {false, true}) {
    SimulatedWorld W;
    for (double Ratio : {0.7, 0.6, 0.8, 1.0})
      W.add({Ratio});
    W.Twist = [&](size_t Run, const Assignment &A, RunSample &Sample) {
      if (Run >= 4 && !A.empty() && A[SteadyIsAtFault ? 0 : 1] == 2)
        Sample.Fault = "line 10 differs";
    };
    std::vector<SubjectSpace> Spaces = predicted({0.7, 0.6, 0.8, 0.9});
    Spaces[1].Varies = true;
    SelectionOutcome O = W.select(timeForRuns(6, W), Spaces);
    EXPECT_LE(O.Runs, 6u);
    if (SteadyIsAtFault) {
      EXPECT_EQ(W.chosen(O), Chosen(4, 0)) << "the cause is not found in time";
      continue;
    }
    EXPECT_EQ(W.chosen(O), (Chosen{2, 0, 2, 0}));
    EXPECT_EQ(O.Subjects[1].Reason, "its variant was rejected: line 10 differs (without it, whose "
                                    "output varies by itself, a run was right)");
    EXPECT_EQ(O.Subjects[3].Reason, BudgetReason) << "its own times do not prove what is predicted";
    EXPECT_EQ(O.Pairs, 2u);
    EXPECT_NEAR(O.Program.Median, 1 - 0.5 / 5, 0.01) << "without the kernel at fault";
  }
}

/// A knob that may move last bits did not in the launches that were compared. If it does in others,
/// the run without it tells, and what is left is confirmed.
TEST(Confirmation, faultOfAKnobThatMayMoveBits_oneRunTells) {
  for (bool Suspected : {true, false}) {
    SimulatedWorld W;
    for (double Ratio : {0.7, 0.6, 0.8, 0.8, 0.8})
      W.add({Ratio});
    W.Faults[{1, 2}] = "line 10 differs";
    std::vector<SubjectSpace> Spaces = predicted({0.7, 0.6, 0.8, 0.8, 0.8});
    Spaces[1].MayMoveBits = Suspected;
    SelectionOutcome O = W.select(timeForRuns(7, W), Spaces);
    EXPECT_EQ(W.chosen(O), Suspected ? (Chosen{2, 0, 2, 2, 2}) : Chosen(5, 0));
    EXPECT_EQ(O.Subjects[1].Reason.find("whose knob may move last bits") != std::string::npos,
              Suspected)
        << O.Subjects[1].Reason;
  }
}

/// One of two kernels that vary is at fault: always, or only in the first run that has it.
TEST(Confirmation, faultBesideTwoKernelsThatVary_isOfTheOneThatCausesItAgain) {
  for (bool ComesAgain : {true, false}) {
    SimulatedWorld W;
    for (double Ratio : {0.7, 0.6, 0.8})
      W.add({Ratio});
    W.Twist = [&](size_t Run, const Assignment &A, RunSample &Sample) {
      if ((ComesAgain || Run == 1) && !A.empty() && A[1] == 2)
        Sample.Fault = "line 10 differs";
    };
    std::vector<SubjectSpace> Spaces = predicted({0.7, 0.6, 0.8});
    Spaces[0].Varies = Spaces[1].Varies = true;
    SelectionOutcome O = W.select(timeForRuns(60, W), Spaces);
    EXPECT_EQ(W.chosen(O), ComesAgain ? (Chosen{2, 0, 2}) : (Chosen{0, 0, 2}));
  }
}

TEST(Confirmation, faultOfTheKernelThatVaries_timeIsLeft_theOthersAreConfirmedAgain) {
  SimulatedWorld W;
  W.add({0.7});
  W.add({0.6});
  W.Faults[{1, 2}] = "line 10 differs";
  std::vector<SubjectSpace> Spaces = predicted({0.7, 0.6});
  Spaces[1].Varies = true;
  SelectionOutcome O = W.select(timeForRuns(60, W), Spaces);
  EXPECT_EQ(W.chosen(O), (Chosen{2, 0}));
  EXPECT_EQ(W.Log[1], (Assignment{2, 2}));
  EXPECT_EQ(W.Log[2], (Assignment{2, 0})) << "right after the fault";
  EXPECT_EQ(W.Log[3], (Assignment{1, 0})) << "the second pair begins, with the copy of the default";
  EXPECT_EQ(O.PairsMade, 3u);
}

TEST(Confirmation, runLimit_keepsRunsForTheWinners) {
  SimulatedWorld W;
  W.add({0.8});
  W.add({0.985});
  W.Noise = 0.004;
  SelectionLimits Limits;
  Limits.MaxRuns = 12;
  SelectionOutcome O = W.select(Limits, {{"a", 3, 2}, {"b", 3, 2}});
  EXPECT_EQ(W.chosen(O), (Chosen{2, 0}));
  EXPECT_EQ(O.Runs, 12u);
  EXPECT_TRUE(O.OutOfRuns);
}

TEST(Confirmation, end_isNamed) {
  SimulatedWorld W;
  EXPECT_EQ(nameOf(W.select().End), "");
  W.add({0.8});
  EXPECT_EQ(nameOf(W.select({}, {{"a", 3, 2}}).End), "decided");
  SelectionLimits Limits;
  Limits.MaxRuns = 3;
  EXPECT_EQ(nameOf(W.select(Limits, {{"a", 3, 2}}).End), "run-limit");
}
