#include "Tune/TuneSelection.h"
#include "Tune/TuneState.h"
#include "Tune/TuneTiming.h"
#include "Tune/TuneTrace.h"

#include "Cubin/Cubin.h"
#include "Cubin/ExchangeNames.h"
#include "unit/Support/ProgressTesting.h"
#include "unit/Tune/TuneTesting.h"

using namespace carve;

namespace {

/// A program under a probe that the test plays, and a job in which one kernel has two variants.
class TuneStagesTest : public testing::Test {
protected:
  TuneStagesTest() : Dir(llvm::cantFail(TempDir::create("carve-stages"))) {
    Request.Workload.Argv = {"./app"};
    Request.Workload.TimeoutS = 9;
    Request.Probe = {"probe.so", ""};
    Request.Gpus.ProcDir = Request.Gpus.DevDir = Dir.path() + "/none";
    Request.Gpus.LockDir = Dir.path();
    Request.Gpus.Nvml = Dir.path() + "/none";
    Request.Progress = &Progress;
    // A replay of its kernel takes more than a round of a default tuning.
    Request.Limits.BudgetS = 100;
    Built.Modules[0].Cubin = recordedPtx("kernels.sm_90.cuda-13.0.88.cubin");
    // Other kernels of the recorded image are used as clones.
    Built.Kernels[0].Variants[1].CloneName = "_Z9recursivePi";
    Built.Kernels[0].Variants[2].CloneName = "x_Z2avPf";
    Built.Kernels[0].Variants[3].CloneName = "_Z5bulkyPdi";
    Tuned = valueOf(exchangeKernelNames(Built.Modules[0].Cubin, {{"_Z2avPf", "x_Z2avPf"}}));
    Runner.Program = [this](const ProbedProgram::Run &R, CommandResult &Result) {
      Result.Stdout = "sum 1\n";
      std::string Plan;
      if (auto Path = R.Env.find(probe::PlanVariable); Path != R.Env.end())
        Plans.push_back(Plan = valueOf(readFile(Path->second)));
      auto Image = R.Images.find("c1");
      bool Faster = Image != R.Images.end() && Image->second == Tuned;
      std::string Records =
          ProbeHead + kernelLine("_Z2avPf", Faster ? 400000 : 600000) + kernelLine("init", 100000);
      if (!Plan.empty())
        Records += planned(Result);
      return Records + (Result.ExitStatus == probe::FaultExitStatus ? "" : "end\n");
    };
  }

  /// Runs the stages up to the timing run.
  InRunTuning timed(TuneState &State) {
    ProbeRecord Trace = valueOf(traceProgram(State));
    return valueOf(timeInside(State, Job, Built, chooseTiming(State, Job, Built, Trace)));
  }

  TempDir Dir;
  TuneRequest Request;
  TuningJob Job = sampleJob();
  JobBuild Built = sampleBuild(Job);
  std::string Tuned; ///< The image with variant 2 in place.
  ProbedProgram Runner;
  std::function<std::string(CommandResult &)> planned = [](CommandResult &) {
    return replayed("_Z2avPf");
  };
  std::vector<std::string> Plans;
  RecordedProgress Progress;
};

} // namespace

TEST_F(TuneStagesTest, trace_timingInside_takesOneRun) {
  TuneState State(Request, Runner);
  EXPECT_EQ(valueOf(traceProgram(State)).Kernels.size(), 2u);
  ASSERT_EQ(Runner.Runs.size(), 1u);
  EXPECT_FALSE(Runner.Runs[0].Env.count(probe::StretchVariable));
  EXPECT_EQ(State.Runs, 1u);
}

TEST_F(TuneStagesTest, trace_onlyWholeRuns_takesTwoRuns) {
  for (bool ByScope : {true, false}) {
    Request.Mode = ByScope ? ModeRequest::Auto : ModeRequest::Fixed;
    Request.Options.Scope = ByScope ? TuningScope::File : TuningScope::Kernel;
    Runner.Runs.clear();
    TuneState State(Request, Runner);
    valueOf(traceProgram(State));
    ASSERT_EQ(Runner.Runs.size(), 2u);
    EXPECT_TRUE(Runner.Runs[1].Env.count(probe::StretchVariable));
    EXPECT_FALSE(State.timesInside());
  }
}

TEST_F(TuneStagesTest, timingRun_hasThePlanAndUnchangedImages) {
  TuneState State(Request, Runner);
  InRunTuning T = timed(State);
  ASSERT_EQ(Runner.Runs.size(), 2u);
  ASSERT_EQ(Plans.size(), 1u);
  EXPECT_NE(Plans[0].find("kernel\t_Z2avPf\treplay\t"), std::string::npos) << Plans[0];
  EXPECT_EQ(Plans[0].find("kernel\tinit"), std::string::npos) << "it has no variants";
  EXPECT_EQ(Runner.Runs[1].Images.at("c1"), Built.Modules[0].Cubin);
  EXPECT_GT(Runner.Runs[1].Asked.TimeoutS, 9);
  EXPECT_EQ(T.Outcomes[0].Nominee, 2u) << T.Outcomes[0].Reason;
  EXPECT_EQ(modeOf(T, 0), "replay");
  EXPECT_EQ(State.Runs, 2u);
}

TEST_F(TuneStagesTest, confirmation_afterATimingRun_isPrecededByTwoRuns) {
  Job.Kernels[0].Traced.Shapes[0].TotalNs = 600000; // As the program takes in other runs.
  TuneState State(Request, Runner);
  InRunTuning T = timed(State);
  SelectionOutcome O = valueOf(selectByRuns(State, Job, Built, &T));
  EXPECT_EQ(O.ScreeningRuns, 0u);
  EXPECT_EQ(O.Subjects[0].Chosen, 2u) << O.Subjects[0].Reason;
  EXPECT_EQ(Runner.Runs.size(), 2 + 6u);
  EXPECT_EQ(State.Check.runs(), 0u);
}

TEST_F(TuneStagesTest, variant_withAFault_isExcludedFromTheNextPlan) {
  planned = [this](CommandResult &Result) {
    if (Plans.size() > 1)
      return replayed("_Z2avPf");
    Result.ExitStatus = probe::FaultExitStatus;
    Result.Stdout = "";
    return std::string("fault\t_Z2avPf\tr64\tran for 10 s\n");
  };
  TuneState State(Request, Runner);
  InRunTuning T = timed(State);
  ASSERT_EQ(Plans.size(), 2u);
  EXPECT_NE(Plans[1].find("exclude\t_Z2avPf\tr64\n"), std::string::npos) << Plans[1];
  ASSERT_EQ(Progress.Notes.size(), 1u);
  EXPECT_EQ(T.Outcomes[0].Nominee, 2u) << T.Outcomes[0].Reason;
  EXPECT_EQ(T.Outcomes[0].Rejected.at(0).Why, "ran for 10 s");
  EXPECT_EQ(State.Runs, 3u);
}

TEST_F(TuneStagesTest, outputOfReplays_differs_isCheckedAfterTheConfirmation) {
  Job.Kernels[0].Traced.Shapes[0].TotalNs = 600000; // As the program takes in other runs.
  planned = [](CommandResult &Result) {
    Result.Stdout = "sum 2\n";
    return replayed("_Z2avPf");
  };
  TuneState State(Request, Runner);
  InRunTuning T = timed(State);
  EXPECT_EQ(T.Outcomes[0].Nominee, 2u) << T.Outcomes[0].Reason;
  EXPECT_EQ(Runner.Runs.size(), 2u);
  SelectionOutcome O = valueOf(selectByRuns(State, Job, Built, &T));
  ASSERT_EQ(Runner.Runs.size(), 2 + 6 + 5u);
  EXPECT_TRUE(Runner.Runs[8].Env.count(probe::StretchVariable));
  EXPECT_FALSE(Runner.Runs[8].Env.count(probe::PlanVariable));
  EXPECT_FALSE(Runner.Runs[9].Env.count(probe::StretchVariable));
  // Nothing was rotated, so the replay itself is in doubt.
  EXPECT_EQ(O.Subjects[0].Chosen, 0u);
  EXPECT_NE(O.Subjects[0].Reason.find("'sum 2' instead of 'sum 1'"), std::string::npos)
      << O.Subjects[0].Reason;
}

/// What rotated variants printed says nothing against a kernel whose memory was compared.
TEST_F(TuneStagesTest, outputOfRotatedKernels_differs_losesOnlyWhatWasNotCompared) {
  Job.Kernels[0].Traced.Shapes[0].TotalNs = 600000; // As the program takes in other runs.
  for (bool Compared : {true, false}) {
    Runner.Runs.clear();
    TuneState State(Request, Runner);
    InRunTuning T = timed(State);
    ASSERT_TRUE(isCompared(T.Outcomes[0]));
    if (!Compared)
      T.Outcomes[0].Proof = OutputProof::ProgramOutput;
    State.Check.keep({0, "sum 2\n", {}}, MemoryOfRun::NotCompared);
    SelectionOutcome O = valueOf(selectByRuns(State, Job, Built, &T));
    EXPECT_EQ(O.Subjects[0].Chosen, Compared ? 2u : 0u) << O.Subjects[0].Reason;
    EXPECT_EQ(State.Check.runs(), Compared ? 0u : 5u);
    EXPECT_EQ(O.Subjects[0].Reason.find("'sum 2' instead of 'sum 1'") != std::string::npos,
              !Compared)
        << O.Subjects[0].Reason;
  }
}

TEST_F(TuneStagesTest, outputDiffers_noTimeLeft_theDefaultRunsOnceMore) {
  TuneState State(Request, Runner);
  valueOf(traceProgram(State));
  State.setBudget();
  State.PlainWallS = 9;
  State.Prospect.InHand = 0.1;
  State.Runs = 2;
  EXPECT_EQ(State.whyNoTime(), std::nullopt);
  State.PlainWallS = 26;
  EXPECT_NE(State.whyNoTime(), std::nullopt) << "three runs of a confirmation take 78 of 100 s";
  ProgramOutput Other{0, "sum 2\n", {}};
  EXPECT_NE(valueOf(State.Check.difference(Other)), std::nullopt);
  ASSERT_EQ(Runner.Runs.size(), 2u);
  EXPECT_TRUE(Runner.Runs[1].Env.count(probe::StretchVariable));
  EXPECT_EQ(valueOf(State.Check.difference(Other)).value_or(""),
            "line 1 of the output is 'sum 2' instead of 'sum 1'; the default was not run again: "
            "what is left of the budget of 100.0 s is needed to confirm");
  EXPECT_EQ(Runner.Runs.size(), 2u);
  State.SelectsByRuns = true;
  EXPECT_EQ(State.whyNoTime(), std::nullopt) << "no time is kept for what is under way";
  EXPECT_NE(valueOf(State.Check.difference(Other)), std::nullopt);
  EXPECT_EQ(Runner.Runs.size(), 6u);
}

/// The time of a stretched run is better spent on a run without the kernels whose output varies.
TEST_F(TuneStagesTest, outputDiffers_timeIsNeededToFindTheFault_noDefaultRuns) {
  TuneState State(Request, Runner);
  valueOf(traceProgram(State));
  State.setBudget();
  State.PlainWallS = 33;
  State.SelectsByRuns = true;
  State.LeavesVarying = true;
  ProgramOutput Other{0, "sum 2\n", {}};
  EXPECT_EQ(valueOf(State.Check.difference(Other)).value_or(""),
            "line 1 of the output is 'sum 2' instead of 'sum 1'; the default was not run again: "
            "what is left of the budget of 100.0 s is needed to find the kernel at fault");
  EXPECT_EQ(Runner.Runs.size(), 1u);
  State.PlainWallS = 30;
  EXPECT_NE(valueOf(State.Check.difference(Other)), std::nullopt);
  ASSERT_GT(Runner.Runs.size(), 1u) << "there is time for both";
  EXPECT_TRUE(Runner.Runs[1].Env.count(probe::StretchVariable)) << "it was not given up before";
}

TEST_F(TuneStagesTest, wholeRuns_haveTimeForOneVariantAndItsConfirmation) {
  TuneState State(Request, Runner);
  EXPECT_TRUE(wholeRunsHaveTime(State)) << "without a budget";
  valueOf(traceProgram(State));
  State.setBudget();
  State.PlainWallS = 9.9; // Of 100 s a tenth is kept, and nine runs take 89.1 s.
  EXPECT_TRUE(wholeRunsHaveTime(State));
  State.PlainWallS = 10.1;
  EXPECT_FALSE(wholeRunsHaveTime(State));
}

TEST_F(TuneStagesTest, undecidedKernel_noTimeToScreen_itsFastestVariantIsConfirmed) {
  Job.Kernels[0].Traced.Shapes[0].TotalNs = 600000; // As the program takes in other runs.
  for (double PlainS : {1.0, 12.0}) {
    TuneState State(Request, Runner);
    InRunTuning T = timed(State);
    InRunOutcome &Undecided = T.Outcomes[0];
    Undecided.Verdict = InRunVerdict::Undecided;
    Undecided.Nominee = 0;
    Undecided.Ratios = {1, 1, 0.7, 0.9};
    State.PlainWallS = PlainS;
    State.OtherRunsS.clear();
    SelectionOutcome O = valueOf(selectByRuns(State, Job, Built, &T));
    EXPECT_EQ(O.ScreeningRuns == 0, PlainS == 12) << O.ScreeningRuns;
    EXPECT_EQ(O.Subjects[0].Chosen, 2u) << O.Subjects[0].Reason;
  }
}

TEST_F(TuneStagesTest, kernelWithoutTimes_noTimeToScreen_itsFirstVariantIsConfirmed) {
  Job.Kernels[0].Traced.Shapes[0].TotalNs = 600000;
  TuneState State(Request, Runner);
  InRunTuning T = timed(State);
  InRunOutcome &Undecided = T.Outcomes[0];
  Undecided.Verdict = InRunVerdict::Undecided;
  Undecided.Nominee = 0;
  Undecided.Ratios.clear();
  State.PlainWallS = 12;
  State.OtherRunsS.clear();
  SelectionOutcome O = valueOf(selectByRuns(State, Job, Built, &T));
  EXPECT_EQ(O.ScreeningRuns, 0u);
  EXPECT_EQ(O.Subjects[0].Chosen, 2u) << O.Subjects[0].Reason;
}

/// The rounds leave a kernel out of the last modules if there is no time to time it further.
TEST_F(TuneStagesTest, kernelThatIsInNoModule_staysForWantOfTime) {
  TuneState State(Request, Runner);
  InRunTuning T = timed(State);
  T.Outcomes[0].Verdict = InRunVerdict::Undecided;
  T.Outcomes[0].Nominee = 0;
  for (JobVariant &V : Built.Kernels[0].Variants)
    V.InModule = false;
  const size_t Before = Runner.Runs.size();
  SelectionOutcome O = valueOf(selectByRuns(State, Job, Built, &T));
  EXPECT_EQ(O.Subjects[0].Chosen, 0u);
  EXPECT_EQ(O.Subjects[0].Reason, BudgetReason);
  EXPECT_EQ(Runner.Runs.size(), Before);
  // If nothing could be timed, time is not the reason.
  for (size_t V = FirstPlace; V < Built.Kernels[0].Variants.size(); ++V)
    T.Outcomes[0].Rejected.push_back({V, "its output differs"});
  EXPECT_EQ(valueOf(selectByRuns(State, Job, Built, &T)).Subjects[0].Reason,
            "no variant could be timed");
  EXPECT_EQ(valueOf(selectByRuns(State, Job, Built, nullptr)).Subjects[0].Reason,
            "no variant could be timed");
}

/// Nominees are confirmed. Others need time for whole runs, and beside nominees more of it.
TEST_F(TuneStagesTest, kernelThatIsUndecided_isTimedFurtherIfThereIsTime) {
  TuneState State(Request, Runner);
  valueOf(traceProgram(State));
  State.BudgetS = 100;
  std::vector<InRunOutcome> Outcomes(2);
  for (InRunOutcome &O : Outcomes)
    O.Verdict = InRunVerdict::Undecided;
  auto TimedFurther = [&](double RunS) {
    State.PlainWallS = RunS;
    State.OtherRunsS.clear();
    return isTimedFurther(State, Outcomes, 1);
  };
  EXPECT_TRUE(TimedFurther(1));
  EXPECT_TRUE(TimedFurther(20));
  EXPECT_FALSE(TimedFurther(200));
  Outcomes[0].Verdict = InRunVerdict::Nominated;
  EXPECT_TRUE(TimedFurther(1));
  EXPECT_FALSE(TimedFurther(20)) << "it has time for five runs, and three pairs need six";
  Outcomes[1].Verdict = InRunVerdict::Nominated;
  EXPECT_TRUE(TimedFurther(20));
}

TEST_F(TuneStagesTest, frontEndKnob_onlyWholeRuns_isExcluded) {
  Built.Kernels[0].Variants[2].Setting.FrontEnd = FrontEndKnob::UnrollMore;
  TuneState State(Request, Runner);
  valueOf(traceProgram(State));
  SelectionOutcome O = valueOf(selectByRuns(State, Job, Built, nullptr));
  EXPECT_EQ(O.Subjects[0].Chosen, 0u) << "it is the faster one";
  EXPECT_EQ(O.Subjects[0].Screened.at(0).Fault, NotCompared);
  EXPECT_EQ(O.Subjects[0].Screened.at(1).Fault, std::nullopt);
}

static unsigned replayMsOf(llvm::StringRef Plan) {
  unsigned Ms = 0;
  Plan.split("replay-ms\t").second.split('\n').first.getAsInteger(10, Ms);
  return Ms;
}

TEST_F(TuneStagesTest, replays_budget_areLimitedToAShareOfARound) {
  Request.Limits.BudgetS = 11;
  Job.Kernels[0].Traced.Shapes[0].TotalNs /= 100;
  TuneState State(Request, Runner);
  timed(State);
  EXPECT_GT(replayMsOf(Plans.at(0)), 1000u);
  EXPECT_LE(replayMsOf(Plans.at(0)), 2200u) << "four tenths of half of the budget";
}

TEST_F(TuneStagesTest, replays_largeBudget_areLimitedToAMinute) {
  Request.Limits.BudgetS = 1000;
  TuneState State(Request, Runner);
  timed(State);
  EXPECT_EQ(replayMsOf(Plans.at(0)), 60000u);
}

TEST_F(TuneStagesTest, budget_followsTheProgramAndTheEffort) {
  struct Case {
    double PlainS;
    unsigned Effort;
    double BudgetS;
  };
  Request.Limits.BudgetS = 0;
  const Case Cases[] = {{1, 2, 20}, {5, 2, 40}, {5, 0, 20}, {5, 1, 30}, {5, 3, 120}, {0.1, 3, 60}};
  for (const auto &C : Cases) {
    Request.Options.Effort = C.Effort;
    TuneState State(Request, Runner);
    State.PlainWallS = C.PlainS;
    State.setBudget();
    EXPECT_EQ(State.BudgetS, C.BudgetS) << C.PlainS << " s at effort " << C.Effort;
  }
  TuneState Program(Request, Runner);
  Request.Options.Scope = TuningScope::File;
  Program.setBudget();
  EXPECT_EQ(Program.BudgetS, 0) << "whole files have no limit of their own";
  Request.Limits.BudgetS = 7;
  Program.setBudget();
  EXPECT_EQ(Program.BudgetS, 7);
}

TEST_F(TuneStagesTest, rounds_timeForTheConfirmationIsSetAside) {
  Request.Limits.BudgetS = 100;
  TuneState State(Request, Runner);
  State.setBudget();
  State.PlainWallS = 8;
  State.Runs = 2;
  State.Prospect = {.InHand = 0.1, .Promised = 0.004, .Rounds = 1};
  EXPECT_NEAR(State.secondsForRound().value_or(-1), 19.5, 0.5);
  State.PlainWallS = 8.5;
  EXPECT_NEAR(State.secondsForRound().value_or(-1), (95 - 7 * 8.5) / 2, 0.5);
  State.Prospect = {.InHand = 0.009, .Promised = 0.02, .Rounds = 1};
  EXPECT_NEAR(State.secondsForRound().value_or(-1), (95 - 5 * 8.5) / 2, 0.5)
      << "two pairs are set aside to confirm little";
  State.Prospect = {};
  State.PlainWallS = 20;
  EXPECT_EQ(State.secondsForRound(), 0.0);
  EXPECT_NE(whyNoTimingRun(State), std::nullopt);
  State.Runs = 1;
  EXPECT_EQ(State.secondsForRound(), 10.0) << "the first round has some time in any case";
}

TEST_F(TuneStagesTest, timingRuns_tellHowLongARunTakes) {
  TuneState State(Request, Runner);
  State.PlainWallS = 3;
  EXPECT_EQ(State.runS(), 3);
  State.noteRun(2.8, 0.8);
  EXPECT_EQ(State.runS(), 2.5);
  State.noteRun(3, 5);
  EXPECT_NEAR(State.runS(), (3 + 2 + 1.5) / 3, 1e-12) << "no run is that short";
  State.noteRun(100, 0);
  EXPECT_NEAR(State.runS(), (3 + 2 + 1.5 + 6) / 4, 1e-12) << "it did more than run the program";
}

TEST_F(TuneStagesTest, replays_afterALongCompile_haveTheirPlannedTime) {
  Request.Limits.BudgetS = 100;
  TuneState State(Request, Runner);
  State.setBudget();
  State.PlainWallS = 8;
  State.Runs = 2;
  State.Prospect = {.InHand = 0.1, .Promised = 0.004, .Rounds = 1};
  EXPECT_NEAR(State.secondsForReplays().value_or(-1), 0.4 * 19.5, 0.2);
  State.PlannedReplayS = 14;
  EXPECT_NEAR(State.secondsForReplays().value_or(-1), 14, 0.5);
  State.BudgetS = 0;
  EXPECT_EQ(State.secondsForReplays(), std::nullopt) << "there is no budget";
}

TEST_F(TuneStagesTest, runs_limitReached_areNotMade) {
  for (bool ByTime : {true, false}) {
    Request.Limits.BudgetS = ByTime ? 1e-9 : 0;
    Request.Limits.MaxRuns = ByTime ? 400 : 1;
    Runner.Runs.clear();
    TuneState State(Request, Runner);
    valueOf(traceProgram(State));
    EXPECT_NE(whyNoTimingRun(State), std::nullopt);
    SelectionOutcome O = valueOf(selectByRuns(State, Job, Built, nullptr));
    EXPECT_EQ(O.Subjects[0].Reason,
              ByTime ? BudgetReason : "not all variants were tried within 1 runs");
    EXPECT_EQ(Runner.Runs.size(), 1u);
  }
}

TEST_F(TuneStagesTest, timingRun_runLimitReached_isNotRepeated) {
  Request.Limits.MaxRuns = 2;
  planned = [](CommandResult &Result) {
    Result.ExitStatus = probe::FaultExitStatus;
    return std::string("fault\t_Z2avPf\tr64\tran for 10 s\n");
  };
  TuneState State(Request, Runner);
  InRunTuning T = timed(State);
  EXPECT_EQ(Runner.Runs.size(), 2u);
  EXPECT_TRUE(Progress.Notes.empty());
  EXPECT_EQ(modeOf(T, 0), "fixed");
  EXPECT_NE(modeReasonOf(T, 0).find("the limit of 2 runs is reached"), std::string::npos)
      << modeReasonOf(T, 0);
}

TEST_F(TuneStagesTest, recordedRuns_areReplayedWithoutTheProgram) {
  Request.RecordPath = Dir.path() + "/recorded";
  SelectionOutcome Before;
  {
    TuneState State(Request, Runner);
    InRunTuning T = timed(State);
    Before = valueOf(selectByRuns(State, Job, Built, &T));
  }
  Request.SamplesPath = std::exchange(Request.RecordPath, "");
  Runner.Runs.clear();
  TuneState State(Request, Runner);
  InRunTuning T = timed(State);
  EXPECT_EQ(T.Outcomes[0].Nominee, 2u) << T.Outcomes[0].Reason;
  SelectionOutcome O = valueOf(selectByRuns(State, Job, Built, &T));
  EXPECT_EQ(O.Subjects[0].Chosen, 2u) << O.Subjects[0].Reason;
  EXPECT_EQ(O.Subjects[0].Ratio.High, Before.Subjects[0].Ratio.High);
  EXPECT_EQ(O.Pairs, Before.Pairs);
  EXPECT_EQ(O.End, Before.End);
  EXPECT_TRUE(Runner.Runs.empty());
}
