// What a confirmation decides if there is no time for three pairs of runs.
#include "RecordedScatter.h"
#include "SimulatedWorld.h"

#include "Tune/InRun/InRunSelection.h"
#include "Tune/Selection/PairedTimes.h"

#include <cmath>

using namespace carve;
using Chosen = std::vector<size_t>;

/// Limits with time for one run of \p W and a half, if each takes a second as the traced one.
static SelectionLimits timeForOneRun(const SimulatedWorld &W) {
  SelectionLimits Limits = timeForRuns(1.5, W);
  Limits.PlainWallS = 1.01;
  return Limits;
}

/// One run of the default was slow by chance. Every other run tells the same.
TEST(HurriedConfirmation, oneSlowRunOfTheDefault_runsThatAreApartWin) {
  for (bool TunedIsSlow : {false, true})
    for (double Ratio : {0.907, 1.0}) {
      SimulatedWorld W;
      W.OtherNs = 0;
      W.add({Ratio});
      W.Twist = [&](size_t Run, const Assignment &, RunSample &Sample) {
        if (Run == (TunedIsSlow ? 1 : 0)) {
          Sample.SubjectNs[0] *= 1.1;
          Sample.ProgramNs *= 1.1;
        }
      };
      SelectionOutcome O = W.select(timeForRuns(4, W), predicted({0.907}));
      EXPECT_EQ(O.Runs, 4u);
      EXPECT_EQ(W.chosen(O), Chosen{Ratio < 1 && !TunedIsSlow ? 2u : 0u});
      if (!O.Subjects[0].Chosen)
        continue;
      // The slow run changes the lower ends alone.
      EXPECT_NEAR(O.Subjects[0].Ratio.Median, 0.907, 0.004);
      EXPECT_NEAR(O.Subjects[0].Ratio.High, 0.907, 0.006);
      EXPECT_NEAR(O.Subjects[0].Ratio.Low, 0.907 / 1.1, 0.006);
      EXPECT_NEAR(O.Program.Median, 0.907, 0.004);
    }
}

/// Runs take longer than the traced one on a busy host. Two pairs decide about a clear gain, and
/// the third one might end after the budget. What a check of the output took does not count.
TEST(HurriedConfirmation, oneRunTookLonger_thirdPairMightBeLate_isNotMade) {
  for (bool ByACheck : {false, true})
    for (double Gained : {0.1, 0.0}) {
      SimulatedWorld W;
      W.OtherNs = 0;
      W.add({1 - Gained});
      double Now = 0;
      W.Twist = [&](size_t Run, const Assignment &, RunSample &Sample) {
        double Seconds = Run == 2 ? 1.6 : 1;
        Now += Seconds;
        Sample.WallS = ByACheck ? 1 : Seconds;
      };
      SelectionLimits Limits = timeForRuns(7, W);
      Limits.ElapsedS = [&Now] { return Now; };
      SelectionOutcome O = W.select(Limits, predicted({0.9}));
      EXPECT_EQ(O.Runs, ByACheck ? 6u : 4u);
      EXPECT_EQ(W.chosen(O), Chosen{Gained > 0 ? 2u : 0u});
    }
}

/// A slow run in the first of three pairs: there is no time for more.
TEST(HurriedConfirmation, oneSlowRunOfTheDefault_timeForThreePairs_wins) {
  for (double Ratio : {0.96, 1.0}) {
    SimulatedWorld W;
    W.OtherNs = 0;
    W.add({Ratio});
    W.Twist = [&](size_t Run, const Assignment &, RunSample &Sample) {
      if (Run == 0) {
        Sample.SubjectNs[0] *= 1.1;
        Sample.ProgramNs *= 1.1;
      }
    };
    SelectionOutcome O = W.select(timeForRuns(6.5, W), predicted({0.96}));
    EXPECT_EQ(O.Runs, 6u);
    EXPECT_NEAR(O.Program.Median, Ratio, 0.005);
    EXPECT_EQ(W.chosen(O), Chosen{Ratio < 1 ? 2u : 0u});
    EXPECT_EQ(O.End, ConfirmationEnd::Budget);
  }
}

/// A single run of the candidates, beside the traced one.
TEST(HurriedConfirmation, timeForOneRun_gainIsAsPredicted_wins) {
  auto Wins = [](double Ratio, std::vector<SubjectSpace> Spaces, bool Traced = true) {
    SimulatedWorld W;
    W.OtherNs = 0;
    W.Traced = Traced;
    W.add({Ratio});
    SelectionOutcome O = W.select(timeForOneRun(W), std::move(Spaces));
    EXPECT_EQ(O.Subjects[0].Reason, O.Subjects[0].Chosen ? "" : BudgetReason);
    for (const Assignment &A : W.Log)
      EXPECT_EQ(A, Assignment{2});
    if (O.Subjects[0].Chosen) {
      EXPECT_EQ(O.Pairs, 1u);
      EXPECT_NEAR(O.Program.Median, Ratio, 0.005);
      EXPECT_GE(O.Program.High, O.Program.Median);
      EXPECT_EQ(O.End, ConfirmationEnd::Sum);
    }
    return std::make_pair(W.Log.size(), W.chosen(O) == Chosen{2});
  };
  using Result = std::pair<size_t, bool>;
  EXPECT_EQ(Wins(0.9, compared({0.9})), Result(1, true));
  EXPECT_EQ(Wins(0.88, compared({0.9})), Result(1, true));
  EXPECT_EQ(Wins(0.915, compared({0.85})), Result(1, false)) << "it gains less than predicted";
  EXPECT_EQ(Wins(0.8, compared({0.9})), Result(1, false)) << "the traced run may have been slow";
  EXPECT_EQ(Wins(1.0, compared({0.9})), Result(1, false));
  EXPECT_EQ(Wins(0.94, compared({0.94})), Result(0, false)) << "one run cannot tell so little";
  EXPECT_EQ(Wins(0.9, predicted({0.9})), Result(0, false)) << "nothing has compared its output";
  EXPECT_EQ(Wins(0.9, compared({0})), Result(0, false)) << "no timing run has nominated it";
  EXPECT_EQ(Wins(0.9, compared({0.9}), /*Traced=*/false), Result(0, false));
}

/// Those that one run cannot confirm do not take part: they might cause a fault.
TEST(HurriedConfirmation, timeForOneRun_notAllAreSure_theOthersWin) {
  SimulatedWorld W = fiveKernels(0.85);
  W.Noise = 0.001;
  W.Subjects[3].Ratios[2] = 0.98;
  W.Subjects[4].Ratios[2] = 1.0;
  W.Faults[{3, 2}] = "line 1 differs";
  SelectionOutcome O = W.select(timeForOneRun(W), compared({0.8, 0.85, 0.85, 0.98, 0.85}));
  EXPECT_EQ(W.Log, (std::vector<Assignment>{{2, 2, 2, 0, 2}}));
  EXPECT_EQ(W.chosen(O), (Chosen{2, 2, 2, 0, 0}));
  EXPECT_EQ(O.Subjects[3].Reason, BudgetReason);
  EXPECT_EQ(O.Subjects[4].Reason, BudgetReason);
  EXPECT_NEAR(O.Program.Median, (4 + 2 * 0.425 + 1 + 3) / 10, 0.005);
}

/// The run may have been shorter than expected: then there is time for a second one, of which the
/// same is asked.
TEST(HurriedConfirmation, timeForOneRunAndThenForAnother_bothDecide) {
  for (double Second : {0.9, 0.96})
    for (double Ratio : {0.9, 0.93, 1.0}) {
      SimulatedWorld W;
      W.OtherNs = 0;
      W.add({Ratio});
      W.Twist = [&](size_t Run, const Assignment &, RunSample &Sample) {
        if (Run == 1)
          Sample.SubjectNs[0] *= Second / 0.9;
      };
      SelectionLimits Limits = timeForOneRun(W);
      Limits.BudgetS = 1.8;
      Limits.ElapsedS = [&W] { return 0.5 * double(W.Log.size()); };
      SelectionOutcome O = W.select(Limits, compared({0.9}));
      EXPECT_EQ(W.Log, (std::vector<Assignment>{{2}, {2}}));
      EXPECT_EQ(W.chosen(O), Chosen{Ratio < 0.92 && Second < 0.92 ? 2u : 0u}) << Ratio;
    }
}

/// If there is time to find the cause of a fault, the run without it decides.
TEST(HurriedConfirmation, timeForOneRun_faultIsFound_theOthersWin) {
  SimulatedWorld W;
  W.OtherNs = 0;
  W.add({0.8});
  W.add({0.8});
  W.Faults[{1, 2}] = "line 1 differs";
  SelectionLimits Limits = timeForOneRun(W);
  Limits.BudgetS = 1.8;
  Limits.ElapsedS = [&W] { return 0.15 * double(W.Log.size()); };
  EXPECT_EQ(W.chosen(W.select(Limits, compared({0.8, 0.8}))), (Chosen{2, 0}));
}

TEST(HurriedConfirmation, timeForOneRun_fault_nothingWins) {
  SimulatedWorld W;
  W.OtherNs = 0;
  W.add({0.8});
  W.Faults[{0, 2}] = "line 1 differs";
  EXPECT_EQ(W.chosen(W.select(timeForOneRun(W), compared({0.8}))), Chosen{0});
  EXPECT_EQ(W.Log.size(), 1u);
}

/// The traced run took a second. Where its span is not known, the wall time alone speaks. On a busy
/// host, both may be a seventh longer by chance.
TEST(HurriedConfirmation, timeForOneRun_programTakesLonger_nothingWins) {
  auto Wins = [](double WallGrowth, double SpanGrowth) {
    SimulatedWorld W;
    W.OtherNs = 0;
    W.add({0.8});
    W.Twist = [&](size_t, const Assignment &, RunSample &Sample) {
      Sample.WallS = WallGrowth;
      Sample.SpanNs = 1e9 * SpanGrowth;
    };
    SelectionLimits Limits = timeForOneRun(W);
    Limits.EarlierSpanNs = 1e9;
    return W.chosen(W.select(Limits, compared({0.8}))) == Chosen{2};
  };
  EXPECT_FALSE(Wins(1.5, 0));
  EXPECT_TRUE(Wins(1.5, 1));
  EXPECT_FALSE(Wins(1.5, 1.5));
  EXPECT_FALSE(Wins(1.25, 1.25));
  EXPECT_FALSE(Wins(1.25, 0));
  EXPECT_TRUE(Wins(1.15, 1.15));
  EXPECT_TRUE(Wins(1.15, 0));
}

/// By recorded scatter, a variant without gain is taken for a faster one at most once in a thousand
/// tunings that end so, although the program may run at two speeds.
TEST(HurriedConfirmation, timeForOneRun_falseNominee_isRarelyAccepted) {
  if (CARVE_TEST_SANITIZED)
    GTEST_SKIP() << "a simulation, for the optimised build";
  constexpr unsigned Worlds = 2000;
  std::mt19937_64 Random(23);
  for (const RecordedScatter &Scatter : recordedScatter())
    for (double Predicted : {0.8, 0.9, 0.92}) {
      unsigned Accepted = 0;
      for (unsigned I = 0; I < Worlds; ++I) {
        SimulatedWorld W;
        W.OtherNs = 0;
        W.add({1.0});
        W.Scatter = [&] { return Scatter.draw(Random); };
        SelectionLimits Limits = timeForOneRun(W);
        if (I % 2) // There is time for a second run then.
          Limits.ElapsedS = [&W] { return 0.2 * double(W.Log.size()); };
        Accepted += W.chosen(W.select(Limits, compared({Predicted})))[0] == 2;
      }
      EXPECT_LT(double(Accepted) / Worlds * InRunLimits().Alpha, 0.001)
          << Scatter.Name << " " << Predicted;
    }
}

/// The same for the last of three pairs, or of four: then the hurried look comes late.
TEST(HurriedConfirmation, timeForThreePairs_falseNominee_isRarelyAccepted) {
  if (CARVE_TEST_SANITIZED)
    GTEST_SKIP() << "a simulation, for the optimised build";
  constexpr unsigned Worlds = 1000;
  std::mt19937_64 Random(29);
  for (const RecordedScatter &Scatter : recordedScatter())
    for (double Runs : {6.5, 8.5})
      for (double Predicted : {0.9, 0.97, 0.98}) {
        unsigned Accepted = 0;
        for (unsigned I = 0; I < Worlds; ++I) {
          SimulatedWorld W;
          W.OtherNs = 0;
          W.add({1.0});
          W.Scatter = [&] { return Scatter.draw(Random); };
          Accepted += W.chosen(W.select(timeForRuns(Runs, W), predicted({Predicted})))[0] == 2;
        }
        EXPECT_LT(double(Accepted) / Worlds * InRunLimits().Alpha, 0.002)
            << Scatter.Name << " " << Predicted;
      }
}

TEST(HurriedConfirmation, timeForTwoPairs_gainIsClearAndAsPredicted_wins) {
  for (double Seconds : {4.0, 5.0, 6.0}) {
    SimulatedWorld W = fiveKernels(0.9);
    SelectionOutcome O = W.select(timeForRuns(Seconds, W), predicted({0.8, 0.9, 0.9, 0.9, 0.9}));
    EXPECT_EQ(W.chosen(O), Chosen(5, 2));
    EXPECT_EQ(O.Pairs, Seconds < 6 ? 2u : 3u);
    EXPECT_EQ(O.Subjects[1].Pairs, O.Pairs);
  }
}

TEST(HurriedConfirmation, timeForTwoPairs_notSure_isNotDecided) {
  auto Wins = [](double Ratio, const std::vector<double> &Predicted, bool Traced = true) {
    SimulatedWorld W;
    W.OtherNs = 0;
    W.add({Ratio});
    W.Traced = Traced;
    SelectionOutcome O = W.select(timeForRuns(5, W), predicted(Predicted));
    EXPECT_EQ(O.Runs, 4u) << "the budget is kept";
    EXPECT_EQ(O.OutOfTime, O.Subjects[0].Chosen == 0);
    EXPECT_EQ(O.Subjects[0].Reason, O.OutOfTime ? BudgetReason : "");
    return W.chosen(O) == Chosen{2};
  };
  EXPECT_TRUE(Wins(0.9, {0.9}));
  EXPECT_FALSE(Wins(0.9, {0})) << "no timing run has nominated it";
  EXPECT_FALSE(Wins(0.96, {0.7})) << "the timing run promised more than twice as much";
  EXPECT_TRUE(Wins(0.9, {0.7})) << "it did, but the gain is large";
  EXPECT_TRUE(Wins(0.857, {0.585})) << "the launch that was replayed gained more than others";
  EXPECT_FALSE(Wins(0.9, {1.01})) << "the timing run promised nothing";
  EXPECT_TRUE(Wins(0.87, {0.755})) << "the sum is not as predicted, but its own times prove it";
  EXPECT_FALSE(Wins(0.992, {0.992})) << "two pairs cannot tell so little";
  EXPECT_FALSE(Wins(0.9, {0.9}, /*Traced=*/false)) << "the default has run twice only";
}

/// Two runs with the candidates and one of the default between them and the traced run.
TEST(HurriedConfirmation, timeForThreeRuns_largeGain_wins) {
  for (double Ratio : {0.98, 0.99}) {
    SimulatedWorld W;
    W.OtherNs = 0;
    W.add({Ratio});
    SelectionOutcome O = W.select(timeForRuns(3, W), predicted({Ratio}));
    EXPECT_EQ(W.Log, (std::vector<Assignment>{{}, {2}, {2}}));
    EXPECT_EQ(W.chosen(O), Chosen{Ratio < 0.985 ? 2u : 0u}) << "three runs cannot tell 1 %";
    EXPECT_EQ(O.Subjects[0].Reason, Ratio < 0.985 ? "" : BudgetReason);
    EXPECT_EQ(O.PairsMade, 2u);
    EXPECT_EQ(O.End == ConfirmationEnd::Sum, Ratio < 0.985);
  }
}

TEST(HurriedConfirmation, timeForThreeRuns_notPredicted_isNotDecided) {
  for (bool Traced : {true, false}) {
    SimulatedWorld W;
    W.OtherNs = 0;
    W.add({0.8});
    W.Traced = Traced;
    SelectionOutcome O = W.select(timeForRuns(3, W), predicted({Traced ? 0 : 0.8}));
    EXPECT_EQ(W.chosen(O), Chosen{0});
    EXPECT_EQ(O.Subjects[0].Reason, BudgetReason);
    EXPECT_EQ(O.Runs, 3u);
  }
}

/// The two pairs share a run, so they are no beginning of three pairs.
TEST(HurriedConfirmation, timeForThreeRuns_notSureAndMoreTimeLater_isNotDecided) {
  SimulatedWorld W;
  W.OtherNs = 0;
  W.add({0.99});
  SelectionLimits Limits = timeForRuns(3.8, W);
  Limits.ElapsedS = [&W] { return std::min<double>(W.Log.size(), 2); };
  SelectionOutcome O = W.select(Limits, predicted({0.99}));
  EXPECT_EQ(W.chosen(O), Chosen{0});
  EXPECT_EQ(O.Runs, 3u);
}

/// A kernel that a run did not launch has fewer than two pairs.
TEST(HurriedConfirmation, timeForThreeRuns_kernelMissingInOne_isNotDecided) {
  for (size_t Missing : {1u, 2u}) {
    SimulatedWorld W;
    W.OtherNs = 0;
    W.add({0.8});
    W.add({0.8});
    W.Twist = [&](size_t Run, const Assignment &, RunSample &Sample) {
      if (Run == Missing)
        Sample.SubjectNs[1] = 0;
    };
    SelectionOutcome O = W.select(timeForRuns(3, W), predicted({0.8, 0.8}));
    EXPECT_EQ(O.Subjects[1].Chosen, 0u);
    EXPECT_EQ(O.Subjects[1].Reason, BudgetReason);
  }
}

TEST(HurriedConfirmation, timeForThreeRuns_faultInTheLast_nothingWins) {
  SimulatedWorld W;
  W.OtherNs = 0;
  W.add({0.8});
  W.Twist = [](size_t Run, const Assignment &, RunSample &Sample) {
    if (Run == 2)
      Sample.Fault = "line 1 differs";
  };
  SelectionOutcome O = W.select(timeForRuns(3, W), predicted({0.8}));
  EXPECT_EQ(W.chosen(O), Chosen{0});
  EXPECT_EQ(O.Runs, 3u);
}

/// A run with the candidates, and one of the default beside the traced run.
TEST(HurriedConfirmation, timeForTwoRuns_largeGain_wins) {
  for (double Ratio : {0.9, 0.96}) {
    SimulatedWorld W;
    W.OtherNs = 0;
    W.add({Ratio});
    SelectionOutcome O = W.select(timeForRuns(2.5, W), compared({Ratio}));
    EXPECT_EQ(W.Log, (std::vector<Assignment>{{}, {2}}));
    EXPECT_EQ(W.chosen(O), Chosen{Ratio < 0.95 ? 2u : 0u}) << "two runs cannot tell 4 %";
    EXPECT_EQ(O.Subjects[0].Reason, Ratio < 0.95 ? "" : BudgetReason);
    EXPECT_EQ(O.Subjects[0].Pairs, 1u);
    EXPECT_EQ(O.Pairs, Ratio < 0.95 ? 1u : 0u);
    EXPECT_EQ(O.End == ConfirmationEnd::Sum, Ratio < 0.95);
    EXPECT_TRUE(std::isfinite(O.Wall.Low) && std::isfinite(O.Wall.High));
  }
}

TEST(HurriedConfirmation, timeForTwoRuns_notSure_isNotDecided) {
  auto Wins = [](std::vector<SubjectSpace> Spaces, bool Traced = true, double EarlierFactor = 1) {
    SimulatedWorld W;
    W.OtherNs = 0;
    W.Traced = Traced;
    W.add({0.8});
    W.Twist = [&](size_t, const Assignment &, RunSample &Sample) {
      Sample.SubjectNs[0] *= EarlierFactor;
      Sample.ProgramNs *= EarlierFactor;
    };
    SelectionOutcome O = W.select(timeForRuns(2.5, W), std::move(Spaces));
    EXPECT_EQ(O.Runs, 2u);
    EXPECT_EQ(O.Subjects[0].Reason, O.Subjects[0].Chosen ? "" : BudgetReason);
    return W.chosen(O) == Chosen{2};
  };
  EXPECT_TRUE(Wins(compared({0.8})));
  EXPECT_FALSE(Wins(predicted({0.8}))) << "its output was compared in one run only";
  EXPECT_FALSE(Wins(compared({0}))) << "no timing run has nominated it";
  EXPECT_FALSE(Wins(compared({0.5}))) << "the timing run promised more";
  EXPECT_FALSE(Wins(compared({0.8}), /*Traced=*/false)) << "the default has run once only";
  EXPECT_FALSE(Wins(compared({0.8}), /*Traced=*/true, 0.9)) << "the traced run took 11 % longer";
}

/// The times of the pair are also those of a candidate that does not agree with its prediction.
TEST(HurriedConfirmation, timeForTwoRuns_notAllAreSure_theOthersWin) {
  SimulatedWorld W = fiveKernels(0.85);
  W.Noise = 0.001;
  W.Subjects[4].Ratios[2] = 1.0;
  SelectionOutcome O = W.select(timeForRuns(2.5, W), compared({0.8, 0.85, 0.85, 0.85, 0.85}));
  EXPECT_EQ(W.chosen(O), (Chosen{2, 2, 2, 2, 0}));
  EXPECT_EQ(O.Subjects[4].Reason, BudgetReason);
}

TEST(HurriedConfirmation, timeForTwoRuns_faultOfTheCandidates_nothingWins) {
  SimulatedWorld W;
  W.OtherNs = 0;
  W.add({0.8});
  W.Faults[{0, 2}] = "line 1 differs";
  EXPECT_EQ(W.chosen(W.select(timeForRuns(2.5, W), compared({0.8}))), Chosen{0});
}

TEST(HurriedConfirmation, timeForTwoRuns_falseNomineeBesideWinners_isRarelyAccepted) {
  if (CARVE_TEST_SANITIZED)
    GTEST_SKIP() << "a simulation, for the optimised build";
  constexpr unsigned Worlds = 2000;
  std::mt19937_64 Random(19);
  for (const RecordedScatter &Scatter : recordedScatter()) {
    unsigned Accepted = 0;
    for (unsigned I = 0; I < Worlds; ++I) {
      SimulatedWorld W = fiveKernels(0.9);
      W.Subjects[4].Ratios[2] = 1.0;
      W.Scatter = [&] { return Scatter.draw(Random); };
      SelectionOutcome O = W.select(timeForRuns(2.5, W), compared({0.8, 0.9, 0.9, 0.9, 0.97}));
      Accepted += W.chosen(O)[4] == 2;
    }
    EXPECT_LT(double(Accepted) / Worlds * InRunLimits().Alpha, 0.002) << Scatter.Name;
  }
}

/// The GPU time of a single pair is not enough where the program takes longer.
TEST(HurriedConfirmation, timeForTwoRuns_wallTimeGrows_nothingWins) {
  for (double Growth : {1.05, 1.5}) {
    SimulatedWorld W;
    W.OtherNs = 0;
    W.add({0.8});
    W.Twist = [&](size_t, const Assignment &A, RunSample &Sample) {
      Sample.WallS = A.empty() ? 1 : Growth;
      Sample.SpanNs = 1e9 * Sample.WallS;
    };
    SelectionOutcome O = W.select(timeForRuns(2.5, W), compared({0.8}));
    EXPECT_EQ(W.chosen(O), Chosen{Growth < 1.1 ? 2u : 0u});
    EXPECT_EQ(O.Wall.High, Growth);
    EXPECT_EQ(O.Wall.Low, 1);
  }
}

TEST(HurriedConfirmation, timeForTwoRuns_falseNominee_isRarelyAccepted) {
  if (CARVE_TEST_SANITIZED)
    GTEST_SKIP() << "a simulation, for the optimised build";
  constexpr unsigned Worlds = 2000;
  std::mt19937_64 Random(17);
  for (const RecordedScatter &Scatter : recordedScatter())
    for (double Predicted : {0.8, 0.93}) {
      unsigned Accepted = 0;
      for (unsigned I = 0; I < Worlds; ++I) {
        SimulatedWorld W;
        W.OtherNs = 0;
        W.add({1.0});
        W.Scatter = [&] { return Scatter.draw(Random); };
        Accepted += W.chosen(W.select(timeForRuns(2.5, W), compared({Predicted})))[0] == 2;
      }
      EXPECT_LT(double(Accepted) / Worlds * InRunLimits().Alpha, 0.001) << Scatter.Name;
    }
}

TEST(HurriedConfirmation, timeForThreeRuns_falseNominee_isRarelyAccepted) {
  if (CARVE_TEST_SANITIZED)
    GTEST_SKIP() << "a simulation, for the optimised build";
  constexpr unsigned Worlds = 2000;
  std::mt19937_64 Random(13);
  for (const RecordedScatter &Scatter : recordedScatter())
    for (double Predicted : {0.5, 0.8, 0.93}) {
      unsigned Accepted = 0;
      for (unsigned I = 0; I < Worlds; ++I) {
        SimulatedWorld W;
        W.OtherNs = 0;
        W.add({1.0});
        W.Scatter = [&] { return Scatter.draw(Random); };
        Accepted += W.chosen(W.select(timeForRuns(3, W), predicted({Predicted})))[0] == 2;
      }
      EXPECT_LT(double(Accepted) / Worlds * InRunLimits().Alpha, 0.001) << Scatter.Name;
    }
}

/// Those whose two pairs agree with the prediction win without those whose pairs do not.
TEST(HurriedConfirmation, timeForTwoPairs_notAllAreSure_theOthersWin) {
  SimulatedWorld W = fiveKernels(0.9);
  W.Subjects[4].Ratios[2] = 1.0;
  SelectionOutcome O = W.select(timeForRuns(4, W), predicted({0.8, 0.9, 0.9, 0.9, 0.9}));
  EXPECT_EQ(W.chosen(O), (Chosen{2, 2, 2, 2, 0}));
  EXPECT_EQ(O.Subjects[4].Reason, BudgetReason);
  EXPECT_EQ(O.Runs, 4u);
}

/// The best of many variants is partly the luckiest, so predictions of many kernels are too high.
TEST(HurriedConfirmation, timeForTwoPairs_gainsAreLessThanPredicted_winIfTheyAreSure) {
  auto Wins = [](double Ratio, double Predicted) {
    SimulatedWorld W;
    W.OtherNs = 0;
    for (int I = 0; I < 20; ++I)
      W.add({Ratio}, 2e5);
    SelectionOutcome O = W.select(timeForRuns(4, W), predicted(std::vector<double>(20, Predicted)));
    const Chosen Is = W.chosen(O);
    EXPECT_EQ(Is, Chosen(20, Is.front()));
    return Is.front() == 2;
  };
  EXPECT_TRUE(Wins(0.91, 0.87));
  EXPECT_TRUE(Wins(0.91, 0.6)) << "each gain is large by itself";
  EXPECT_FALSE(Wins(0.96, 0.6));
}

TEST(HurriedConfirmation, timeForTwoPairs_falseNomineeBesideWinners_isRarelyAccepted) {
  if (CARVE_TEST_SANITIZED)
    GTEST_SKIP() << "a simulation, for the optimised build";
  constexpr unsigned Worlds = 2000;
  std::mt19937_64 Random(11);
  for (const RecordedScatter &Scatter : recordedScatter()) {
    unsigned Accepted = 0;
    for (unsigned I = 0; I < Worlds; ++I) {
      SimulatedWorld W = fiveKernels(0.9);
      W.Subjects[4].Ratios[2] = 1.0;
      W.Scatter = [&] { return Scatter.draw(Random); };
      SelectionOutcome O = W.select(timeForRuns(4, W), predicted({0.8, 0.9, 0.9, 0.9, 0.97}));
      Accepted += W.chosen(O)[4] == 2;
    }
    EXPECT_LT(double(Accepted) / Worlds * InRunLimits().Alpha, 0.002) << Scatter.Name;
  }
}

/// A kernel with a small share shows in its own times, although the program's times do not show it.
TEST(HurriedConfirmation, timeForTwoPairs_programScattersMore_winsByItsOwnTimes) {
  for (double Ratio : {0.8, 1.0}) {
    SimulatedWorld W;
    W.OtherNs = 1e8;
    W.add({Ratio});
    W.add({1.0});
    SelectionOutcome O = W.select(timeForRuns(4, W), predicted({0.8, 0.98}));
    EXPECT_EQ(W.chosen(O), (Chosen{Ratio < 1 ? 2u : 0u, 0}));
    EXPECT_EQ(O.Subjects[1].Reason, BudgetReason);
    EXPECT_EQ(O.End, ConfirmationEnd::Budget);
  }
}

/// A kernel that is faster makes the program faster. If the program's times show that it is not,
/// something else has become slower.
TEST(HurriedConfirmation, timeForTwoPairs_programContradicts_isNotDecided) {
  SimulatedWorld W;
  W.add({0.5});
  W.Twist = [](size_t, const Assignment &A, RunSample &Sample) {
    if (!A.empty() && A[0] == 2)
      Sample.ProgramNs += 0.45e6;
  };
  SelectionOutcome O = W.select(timeForRuns(4, W), predicted({0.5}));
  EXPECT_EQ(W.chosen(O), (Chosen{0}));
}

TEST(HurriedConfirmation, timeForTwoPairs_gainsAreMoreThanPredictedBesideALoser_win) {
  SimulatedWorld W;
  W.OtherNs = 0;
  W.add({1.03});
  W.add({0.88});
  W.add({0.90});
  SelectionOutcome O = W.select(timeForRuns(4, W), predicted({0.94, 0.955, 0.96}));
  EXPECT_EQ(W.chosen(O), (Chosen{0, 2, 2}));
  EXPECT_EQ(O.Runs, 4u);
}

/// As many as of falseNominee_besideTrueWinners_isRarelyAccepted.
TEST(HurriedConfirmation, timeForTwoPairs_falseNominee_isRarelyAccepted) {
  if (CARVE_TEST_SANITIZED)
    GTEST_SKIP() << "a simulation, for the optimised build";
  constexpr unsigned Worlds = 2000;
  std::mt19937_64 Random(7);
  for (const RecordedScatter &Scatter : recordedScatter())
    for (double Predicted : {0.5, 0.95, 0.97, 0.99}) {
      unsigned Accepted = 0;
      for (unsigned I = 0; I < Worlds; ++I) {
        SimulatedWorld W;
        W.OtherNs = 0;
        W.add({1.0});
        W.Scatter = [&] { return Scatter.draw(Random); };
        SelectionOutcome O = W.select(timeForRuns(4, W), predicted({Predicted}));
        Accepted += W.chosen(O)[0] == 2 && O.Pairs == HurriedLook.Pairs;
      }
      EXPECT_LT(double(Accepted) / Worlds * InRunLimits().Alpha, 0.002) << Scatter.Name;
    }
}
