#include "Tune/Selection/Selection.h"
#include "Tune/Selection/SelectionRuns.h"

#include "SimulatedWorld.h"
#include "unit/Support/ProgressTesting.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;
using Chosen = std::vector<size_t>;

/// \p Count subjects with seven variants each. Variant 4 of every third subject wins.
static SimulatedWorld manySubjects(size_t Count) {
  SimulatedWorld W;
  for (size_t S = 0; S < Count; ++S)
    W.add({1.01, 1.0, S % 3 ? 1.0 : 0.9, 1.0, 1.0});
  return W;
}

TEST(Selection, manySubjects_someWithAWinner_winnersAreChosen) {
  SimulatedWorld W = manySubjects(30);
  SelectionOutcome O = W.select();
  for (size_t S = 0; S < 30; ++S) {
    EXPECT_EQ(O.Subjects[S].Chosen, S % 3 ? 0u : 4u) << S;
    EXPECT_EQ(O.Subjects[S].Reason.empty(), S % 3 == 0) << O.Subjects[S].Reason;
  }
  EXPECT_NEAR(O.Subjects[0].Ratio.Median, 0.9, 0.003);
  EXPECT_LT(O.Subjects[0].Ratio.High, 0.91);
  EXPECT_EQ(O.Subjects[0].Pairs, 3u);
  EXPECT_NEAR(O.Program.Median, 1 - 1.0 / 31, 0.003);
  EXPECT_FALSE(O.OutOfRuns);
}

TEST(Selection, runs_moreSubjects_stayTheSame) {
  SimulatedWorld Few = manySubjects(2), Many = manySubjects(40);
  SelectionOutcome A = Few.select(), B = Many.select();
  // Three rounds of seven variants, three pairs.
  EXPECT_EQ(A.Runs, 3 * 7 + 2 * 3u);
  EXPECT_EQ(B.Runs, A.Runs);
  EXPECT_EQ(Many.Log.size(), B.Runs);
}

TEST(Selection, round_subjectsOfDifferentSizes_hasEveryVariantOfEach) {
  SimulatedWorld W;
  W.add({1.0, 1.0, 1.0, 1.0, 1.0, 1.0}); // 8 variants.
  W.add({1.0});                          // 3.
  W.add({});                             // It has nothing to try.
  SelectionOutcome O = W.select();
  ASSERT_EQ(O.Runs, 3 * 8u);
  for (size_t Round = 0; Round < 3; ++Round) {
    std::set<size_t> Seen[3];
    for (size_t I = 0; I < 8; ++I)
      for (size_t S = 0; S < 3; ++S)
        Seen[S].insert(W.Log[Round * 8 + I][S]);
    EXPECT_EQ(Seen[0].size(), 8u);
    EXPECT_EQ(Seen[1].size(), 3u);
    EXPECT_EQ(Seen[2], std::set<size_t>{0});
  }
}

TEST(Selection, permutations_ofSubjectsAndRounds_differ) {
  SimulatedWorld W;
  for (int I = 0; I < 2; ++I)
    W.add({1.0, 1.0, 1.0, 1.0, 1.0, 1.0});
  W.select();
  std::vector<size_t> Orders[4]; // Subject 0, rounds 0 and 1; subject 1, the same.
  for (size_t I = 0; I < 16; ++I)
    for (size_t S = 0; S < 2; ++S)
      Orders[2 * S + I / 8].push_back(W.Log[I][S]);
  for (size_t A = 0; A < 4; ++A)
    for (size_t B = 0; B < A; ++B)
      EXPECT_NE(Orders[A], Orders[B]);
}

TEST(Selection, default_gainBelowHalfAPercent_isKept) {
  for (uint64_t Seed = 1; Seed <= 20; ++Seed) {
    SimulatedWorld W;
    W.add({0.9965, 1.0});
    W.add({0.996, 1.0});
    SelectionLimits Limits;
    Limits.Seed = Seed;
    SelectionOutcome O = W.select(Limits);
    EXPECT_EQ(W.chosen(O), (Chosen{0, 0}));
    EXPECT_NE(O.Subjects[0].Reason, "");
  }
}

TEST(Selection, reason_noVariantFaster_namesTheBestRatio) {
  SimulatedWorld W;
  W.add({1.02, 0.998});
  W.add({1.1});
  W.Noise = 0;
  SelectionOutcome O = W.select();
  EXPECT_EQ(O.Subjects[0].Reason,
            "no variant was faster: the best took 0.998 of the default's time");
  EXPECT_EQ(O.Subjects[1].Reason,
            "no variant was faster: the best took 1.100 of the default's time");
  EXPECT_EQ(O.Subjects[0].Screened[1].Ratios, (std::vector<double>{0.998, 0.998, 0.998}));
}

TEST(Selection, variant_clearlyWorse_isDroppedAfterTheFirstRound) {
  SimulatedWorld W;
  W.add({2.0, 1.5, 0.8, 1.001});
  SelectionOutcome O = W.select();
  EXPECT_EQ(O.Subjects[0].Chosen, 4u);
  EXPECT_EQ(O.Subjects[0].Screened[0].Ratios.size(), 1u);
  EXPECT_EQ(O.Subjects[0].Screened[2].Ratios.size(), 3u);
  EXPECT_EQ(O.Runs, 6 + 4 + 4 + 6u);
}

TEST(Selection, variant_disturbedByANeighbour_isJudgedByItsOwnGain) {
  SimulatedWorld W;
  W.add({1.02, 0.9});       // Its slow variant slows the other subject.
  W.add({0.93, 1.01, 1.0}); // It gains whatever its neighbour does.
  W.Disturbs[{0, 2}][1] = 1.4;
  SelectionOutcome O = W.select();
  EXPECT_EQ(W.chosen(O), (Chosen{3, 2}));
  EXPECT_NEAR(O.Subjects[1].Ratio.Median, 0.93, 0.01);
}

TEST(Selection, winner_thatSlowsTheProgram_isNotChosen) {
  SimulatedWorld W;
  W.add({0.9}, 1e6);
  W.add({}, 1e7);
  W.Disturbs[{0, 2}][1] = 1.1;
  SelectionOutcome O = W.select();
  EXPECT_EQ(W.chosen(O), (Chosen{0, 0}));
  EXPECT_GT(O.Program.Median, 1.05);
  EXPECT_TRUE(
      llvm::StringRef(O.Subjects[0].Reason).starts_with("the program as a whole was slower"))
      << O.Subjects[0].Reason;
}

TEST(Selection, program_slowerInWallTime_keepsTheDefault) {
  SimulatedWorld W;
  W.add({0.9});
  W.Twist = [](size_t, const Assignment &A, RunSample &Sample) {
    if (!A.empty() && A[0] == 2)
      Sample.WallS *= 1.1;
  };
  EXPECT_EQ(W.chosen(W.select()), Chosen{0});
}

TEST(Selection, wallTimeOfSomeRunsIsLong_morePairsTell) {
  SimulatedWorld W;
  W.add({0.9});
  unsigned Tuned = 0, Slow = 0;
  W.Twist = [&](size_t, const Assignment &A, RunSample &Sample) {
    if (!A.empty() && A[0] == 2 && ++Tuned <= Slow)
      Sample.WallS *= 1.1;
  };
  SelectionOutcome O = W.select();
  EXPECT_EQ(O.Pairs, 3u);
  Slow = std::exchange(Tuned, 0); // All runs of the variant, with the screening.
  O = W.select();
  EXPECT_EQ(W.chosen(O), Chosen{2});
  EXPECT_GT(O.Pairs, 3u);
  EXPECT_LE(O.Wall.Low, 1);
}

/// Starts of a program that take longer by chance do not lose what its kernels gain.
TEST(Selection, wallTimeIsLonger_spanOfTheKernelsTells) {
  for (double Span : {0.95, 1.1}) {
    SimulatedWorld W;
    W.add({0.9});
    W.Twist = [&](size_t, const Assignment &A, RunSample &Sample) {
      bool Tuned = !A.empty() && A[0] == 2;
      Sample.WallS *= Tuned ? 1.5 : 1;
      Sample.SpanNs = (Tuned ? Span : 1) * 1e9;
    };
    SelectionOutcome O = W.select();
    EXPECT_EQ(W.chosen(O), Chosen{Span < 1 ? 2u : 0u});
    EXPECT_GT(O.Wall.Low, 1);
    ASSERT_TRUE(O.Span);
    EXPECT_NEAR(O.Span->Median, Span, 1e-9);
  }
}

TEST(Selection, variants_thatBreakTheProgram_areFoundAndExcluded) {
  SimulatedWorld W;
  W.add({0.8, 0.9});
  W.add({1.0, 0.7, 0.95});
  W.add({0.85});
  W.Faults[{0, 2}] = "exit status 139 instead of 0";
  W.Faults[{1, 3}] = "line 1 of the output is '2' instead of '1'";
  SelectionOutcome O = W.select();
  EXPECT_EQ(W.chosen(O), (Chosen{3, 4, 2}));
  EXPECT_EQ(O.Subjects[0].Screened[0].Fault, "exit status 139 instead of 0");
  EXPECT_EQ(O.Subjects[1].Screened[1].Fault, "line 1 of the output is '2' instead of '1'");
  EXPECT_FALSE(O.Subjects[2].Screened[0].Fault);
}

TEST(Selection, candidate_faultInConfirmation_isRejected) {
  SimulatedWorld W;
  W.add({0.8});
  W.add({0.9});
  // The fault comes only later, so screening did not see it.
  W.Twist = [](size_t Run, const Assignment &A, RunSample &Sample) {
    if (Run >= 12 && !A.empty() && A[0] == 2)
      Sample.Fault = "the content of out.bin differs";
  };
  SelectionOutcome O = W.select();
  EXPECT_EQ(W.chosen(O), (Chosen{0, 2}));
  EXPECT_EQ(O.Subjects[0].Reason, "its variant was rejected: the content of out.bin differs");
}

TEST(Selection, faults_withoutACulprit_keepAllDefaults) {
  SimulatedWorld W;
  W.add({0.8});
  W.Twist = [](size_t Run, const Assignment &, RunSample &Sample) {
    if (Run >= 9)
      Sample.Fault = "line 3 differs";
  };
  SelectionOutcome O = W.select();
  EXPECT_EQ(W.chosen(O), Chosen{0});
  EXPECT_NE(O.Subjects[0].Reason, "");
  EXPECT_LT(O.Runs, 40u);
}

TEST(Selection, candidate_controlIsFarFromTheDefault_mustGainMore) {
  for (double Ratio : {0.97, 0.9}) {
    SimulatedWorld W;
    W.add({Ratio});
    W.Subjects[0].Ratios[1] = 1.02; // Identical code at another address is 2 % slower.
    SelectionOutcome O = W.select();
    EXPECT_NEAR(O.Subjects[0].ControlDistance, 0.02, 0.003);
    EXPECT_EQ(O.Subjects[0].Chosen, Ratio == 0.9 ? 2u : 0u);
  }
}

TEST(Selection, pairs_whileUndecided_grow) {
  SimulatedWorld W;
  W.Noise = 0.03;
  W.add({0.97});
  unsigned Longest = 0;
  for (uint64_t Seed = 1; Seed <= 30; ++Seed) {
    SelectionLimits Limits;
    Limits.Seed = Seed;
    SelectionOutcome O = W.select(Limits);
    Longest = std::max(Longest, O.Subjects[0].Pairs);
    EXPECT_TRUE(O.Subjects[0].Chosen == 0 || O.Subjects[0].Ratio.High < 0.997);
  }
  EXPECT_GT(Longest, 9u);
  EXPECT_LE(Longest, 27u);
}

TEST(Selection, candidate_losesConfirmation_othersAreConfirmedAgain) {
  SimulatedWorld W;
  W.add({0.9});
  W.add({0.9});
  // Subject 1 is fast in screening by accident.
  W.Twist = [](size_t Run, const Assignment &A, RunSample &Sample) {
    if (Run >= 9 && !A.empty() && A[1] == 2)
      Sample.SubjectNs[1] *= 1.02 / 0.9;
  };
  SelectionOutcome O = W.select();
  EXPECT_EQ(W.chosen(O), (Chosen{2, 0}));
  EXPECT_EQ(O.Runs, 3 * 3 + 2 * 6u);
  EXPECT_EQ(O.Pairs, 3u);
  EXPECT_EQ(O.PairsMade, 6u);
  EXPECT_EQ(O.End, ConfirmationEnd::Decided);
  EXPECT_TRUE(llvm::StringRef(O.Subjects[1].Reason).starts_with("not confirmed: 1.0"))
      << O.Subjects[1].Reason;
  // The second confirmation has the winner alone, on new runs.
  for (size_t I = 9 + 6; I < W.Log.size(); ++I)
    EXPECT_TRUE(W.Log[I].empty() || W.Log[I][1] == 0);
}

TEST(Selection, confirmation_pairs_alternateAndUseControlCopies) {
  SimulatedWorld W;
  W.Noise = 0.02;
  W.add({0.97});
  W.add({});
  W.select({}, {{"a", 3, 2}, {"b", 2}});
  const std::vector<Assignment> Defaults = {{}, {1, 0}};
  ASSERT_GE(W.Log.size(), 16u);
  for (size_t Pair = 0; 2 * Pair < W.Log.size(); ++Pair) {
    bool TunedFirst = Pair % 4 >= 2;
    EXPECT_EQ(W.Log[2 * Pair + (TunedFirst ? 0 : 1)], (Assignment{2, 0})) << Pair;
    EXPECT_EQ(W.Log[2 * Pair + (TunedFirst ? 1 : 0)], Defaults[Pair % 2]) << Pair;
  }
}

TEST(Selection, screening_runLimitReached_ends) {
  SimulatedWorld W;
  W.add({1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0});
  SelectionLimits Limits;
  Limits.MaxRuns = 12;
  SelectionOutcome O = W.select(Limits);
  EXPECT_TRUE(O.OutOfRuns);
  EXPECT_EQ(O.Runs, 12u);
  EXPECT_EQ(O.Subjects[0].Chosen, 0u);
}

TEST(Selection, runLimit_runsMadeBefore_count) {
  SimulatedWorld W;
  W.add({1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0});
  SelectionLimits Limits;
  Limits.MaxRuns = 6;
  Limits.RunsBefore = 2;
  SelectionOutcome O = W.select(Limits);
  EXPECT_EQ(O.Runs, 4u);
  EXPECT_EQ(O.Subjects[0].Reason, "not all variants were tried within 6 runs");
}

TEST(Selection, pairs_runLimitReached_growNoMore) {
  SimulatedWorld W;
  W.Noise = 0.05;
  W.add({0.97});
  for (uint64_t Seed = 1; Seed <= 10; ++Seed) {
    SelectionLimits Limits;
    Limits.Seed = Seed;
    Limits.MaxRuns = 20;
    EXPECT_LE(W.select(Limits).Runs, 20u);
  }
}

TEST(Selection, subject_notLaunchedInEveryRun_keepsTheDefault) {
  SimulatedWorld W;
  W.add({0.5});
  W.Twist = [](size_t Run, const Assignment &, RunSample &Sample) {
    if (Run >= 9)
      Sample.SubjectNs[0] = 0;
  };
  SelectionOutcome O = W.select();
  EXPECT_EQ(O.Subjects[0].Chosen, 0u);
  EXPECT_EQ(O.Subjects[0].Reason, "it was not launched in every run");
}

TEST(Selection, runs_sameSeed_areTheSame) {
  std::vector<Assignment> Logs[3];
  for (int I = 0; I < 3; ++I) {
    SimulatedWorld W = manySubjects(5);
    SelectionLimits Limits;
    Limits.Seed = I == 2 ? 8 : 7;
    W.select(Limits);
    Logs[I] = W.Log;
  }
  EXPECT_EQ(Logs[0], Logs[1]);
  EXPECT_NE(Logs[0], Logs[2]);
}

TEST(Selection, selection_nothingToTry_makesNoRuns) {
  SimulatedWorld W;
  EXPECT_EQ(W.select().Runs, 0u);
  W.add({});
  SelectionOutcome O = W.select();
  EXPECT_EQ(O.Runs, 0u);
  EXPECT_EQ(W.chosen(O), Chosen{0});
}

TEST(Selection, selection_failureToRun_endsIt) {
  unsigned Runs = 0;
  auto Outcome = selectVariants(
      {{"s", 4}}, {},
      [&](const Assignment &) -> llvm::Expected<RunSample> {
        if (++Runs == 5)
          return llvm::createStringError("interrupted");
        return RunSample{{1e6}, 1e6, 1, 0, std::nullopt};
      },
      silentProgress());
  ASSERT_FALSE(Outcome);
  EXPECT_EQ(llvm::toString(Outcome.takeError()), "interrupted");
  EXPECT_EQ(Runs, 5u);
}

TEST(Selection, progress_risesAndEndsAtTheTotal) {
  SimulatedWorld W = manySubjects(3);
  RecordedProgress Progress;
  llvm::cantFail(selectVariants(
      {{"a", 7}, {"b", 7}, {"c", 7}}, {},
      [&](const Assignment &A) -> llvm::Expected<RunSample> { return W.run(A); }, Progress));
  const auto &Seen = Progress.Runs;
  ASSERT_GT(Seen.size(), 2u);
  for (size_t I = 0; I + 1 < Seen.size(); ++I) {
    EXPECT_EQ(Seen[I].first, I);
    EXPECT_GT(Seen[I].second, Seen[I].first);
  }
  // There is no earlier run of the default, so that four pairs are needed.
  EXPECT_EQ(Seen.back(), std::make_pair(29u, 29u));
}

TEST(Selection, progress_runsBefore_areCounted) {
  SimulatedWorld W = manySubjects(1);
  SelectionLimits Limits;
  Limits.RunsBefore = 5;
  RecordedProgress Progress;
  llvm::cantFail(selectVariants(
      {{"a", 7}}, Limits,
      [&](const Assignment &A) -> llvm::Expected<RunSample> { return W.run(A); }, Progress));
  ASSERT_FALSE(Progress.Runs.empty());
  EXPECT_EQ(Progress.Runs.front().first, 5u);
  EXPECT_EQ(Progress.Runs.back(),
            std::make_pair(5 + unsigned(W.Log.size()), 5 + unsigned(W.Log.size())));
}

/// Limits with a budget of \p Seconds. Each run of \p W takes one second of the simulated clock.
static SelectionLimits budgetOf(double Seconds, SimulatedWorld &W) {
  SelectionLimits Limits;
  Limits.BudgetS = Seconds;
  Limits.RunS = 1;
  Limits.ElapsedS = [&W] { return double(W.Log.size()); };
  return Limits;
}

TEST(Selection, nominees_areNotScreened) {
  SimulatedWorld W;
  W.add({0.9, 0.8});
  W.add({0.9, 1.0});
  std::vector<SubjectSpace> Spaces = {{"a", 4, 3}, {"b", 4, 2}};
  SelectionOutcome O = W.select({}, Spaces);
  EXPECT_EQ(W.chosen(O), (Chosen{3, 2}));
  EXPECT_EQ(O.ScreeningRuns, 0u);
  EXPECT_EQ(O.Runs, 6u);
  EXPECT_TRUE(O.Subjects[0].Screened[0].Ratios.empty());
}

TEST(Selection, screening_someDecided_onlyTheUndecidedRun) {
  SimulatedWorld W;
  W.add({0.9, 0.8});
  W.add({0.9, 1.0, 1.02});
  W.add({0.9, 0.8});
  std::vector<SubjectSpace> Spaces = {
      {"a", 4, 3}, {"b", 5}, {"c", 4, 0, "no variant was faster", {}}};
  SelectionOutcome O = W.select({}, Spaces);
  EXPECT_EQ(W.chosen(O), (Chosen{3, 2, 0}));
  EXPECT_EQ(O.ScreeningRuns, 3 * 5u);
  for (size_t I = 0; I < O.ScreeningRuns; ++I) {
    EXPECT_EQ(W.Log[I][0], 0u);
    EXPECT_EQ(W.Log[I][2], 0u);
  }
  for (const Assignment &A : W.Log)
    EXPECT_TRUE(A.empty() || A[2] == 0);
  EXPECT_EQ(O.Subjects[2].Reason, "no variant was faster");
}

TEST(Selection, excludedVariant_isNotTried) {
  SimulatedWorld W;
  W.add({0.5, 0.9});
  SelectionOutcome O = W.select({}, {{"a", 4, 0, "", {{2, "its output differs"}}}});
  EXPECT_EQ(W.chosen(O), Chosen{3});
  EXPECT_EQ(O.Subjects[0].Screened[0].Fault, "its output differs");
  for (const Assignment &A : W.Log)
    EXPECT_TRUE(A.empty() || A[0] != 2);
}

TEST(Selection, nominee_notConfirmed_keepsTheDefault) {
  SimulatedWorld W;
  W.add({1.0});
  W.add({0.9});
  SelectionOutcome O = W.select({}, {{"a", 3, 2}, {"b", 3, 2}});
  EXPECT_EQ(W.chosen(O), (Chosen{0, 2}));
  EXPECT_TRUE(llvm::StringRef(O.Subjects[0].Reason).starts_with("not confirmed: "));
}

TEST(Selection, screening_budget_endsSoThatAConfirmationFits) {
  SimulatedWorld W;
  W.add({0.9, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0}); // Three rounds would be 27 runs.
  SelectionOutcome O = W.select(budgetOf(25, W));
  EXPECT_EQ(W.chosen(O), Chosen{2});
  EXPECT_TRUE(O.OutOfTime);
  EXPECT_EQ(O.ScreeningRuns, 19u);
  EXPECT_EQ(O.Pairs, 3u);
  EXPECT_EQ(O.Runs, 25u);
}

TEST(Selection, reason_budgetLeavesVariantsUntried_isTheBudget) {
  SimulatedWorld W;
  W.add({1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0});
  W.add({1.2});
  SelectionOutcome O = W.select(budgetOf(10, W));
  EXPECT_EQ(O.Runs, 4u);
  EXPECT_EQ(O.Subjects[0].Reason, BudgetReason);
  EXPECT_NE(O.Subjects[1].Reason, BudgetReason);
}

TEST(Selection, pairs_budgetSpent_growNoMore) {
  SimulatedWorld W;
  W.Noise = 0.05;
  W.add({0.97});
  unsigned Undecided = 0;
  for (uint64_t Seed = 1; Seed <= 20; ++Seed) {
    W.Log.clear();
    SelectionLimits Limits = budgetOf(20, W);
    Limits.Seed = Seed;
    SelectionOutcome O = W.select(Limits, {{"a", 3, 2}});
    EXPECT_LE(O.Runs, 20u);
    EXPECT_GE(O.Subjects[0].Pairs, 3u);
    Undecided += O.Subjects[0].Reason == BudgetReason && O.End == ConfirmationEnd::Budget;
  }
  EXPECT_GT(Undecided, 0u);
}

TEST(Selection, varyingNominee_isLeftBesideOthers) {
  std::vector<SubjectSpace> Spaces = {{"a", 3, 2}, {"b", 3, 2}, {"c", 3, 0}};
  Spaces[2].Varies = true;
  EXPECT_FALSE(mayLeaveVarying(Spaces)) << "it is not nominated";
  Spaces[1].Varies = true;
  EXPECT_TRUE(mayLeaveVarying(Spaces));
  Spaces[0].Varies = true;
  EXPECT_FALSE(mayLeaveVarying(Spaces)) << "nothing would be left";
}

TEST(Selection, confirmation_takesThreeRunsAtLeast) {
  for (unsigned Runs : {1u, 2u, 3u, 4u}) {
    SimulatedWorld W;
    W.add({0.8});
    std::vector<SubjectSpace> Spaces = {{"a", 3, 2}};
    Spaces[0].Predicted = 0.8;
    SelectionOutcome O = W.select(budgetOf(Runs, W), Spaces);
    EXPECT_EQ(W.chosen(O), Chosen{Runs > 2 ? 2u : 0u});
    EXPECT_EQ(O.Runs, Runs > 1 ? Runs : 0) << "one run confirms nothing";
    EXPECT_EQ(O.Subjects[0].Reason, Runs > 2 ? "" : BudgetReason);
  }
}

TEST(Selection, confirmation_noTimeLeft_isNotBegun) {
  SimulatedWorld W;
  W.add({0.8});
  SelectionLimits Limits = budgetOf(3, W);
  Limits.ElapsedS = [] { return 4.0; };
  SelectionOutcome O = W.select(Limits, {{"a", 3, 2}});
  EXPECT_EQ(O.Runs, 0u);
  EXPECT_EQ(O.Subjects[0].Reason, BudgetReason);
  EXPECT_EQ(W.chosen(O), Chosen{0});
}
