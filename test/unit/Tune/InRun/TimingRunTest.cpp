#include "Tune/InRun/TimingRun.h"
#include "unit/Support/ProgressTesting.h"
#include "unit/Tune/TuneTesting.h"

using namespace carve;

namespace {

/// Plays runs with given faults, outputs and exit statuses, and keeps their plans.
class TimingRunTest : public testing::Test {
protected:
  static ProgramOutput printing(const std::string &Text) { return {0, Text, {}}; }
  /// A run that prints \p Text, in which a kernel's variants were rotated.
  static std::function<void(RunRecord &)> rotating(const std::string &Text) {
    return [Text](RunRecord &Run) {
      Run.Output = printing(Text);
      Run.Probe.InRun.Rotated.resize(1);
    };
  }

  TimingRunResult time(const TimingRunLimits &Limits = {}) { return valueOf(tryTime(Limits)); }
  llvm::Expected<TimingRunResult> tryTime(const TimingRunLimits &Limits = {}) {
    Check.reference().addDefault(printing("sum 1\n"));
    return timeInRun(
        [&](const PlanExclusions &Excluded) {
          std::string Text = NothingLeft ? "" : "plan";
          for (const VariantFault &F : Excluded.Faults)
            Text += " -" + F.Kernel + F.Variant;
          for (const auto &[Kernel, Why] : Excluded.Kernels)
            Text += " -" + Kernel;
          return Text;
        },
        [&](const std::string &Plan) -> llvm::Expected<RunRecord> {
          RunRecord Run;
          Run.Output = printing("sum 1\n");
          if (Plans.size() < Faults.size() && Faults[Plans.size()].Kernel != "")
            Run.Probe.InRun.Faults = {Faults[Plans.size()]};
          Run.Probe.InRun.Replays.resize(Plans.size() + 1);
          Plans.push_back(Plan);
          if (Run.Probe.InRun.Faults.empty() && Twist)
            Twist(Run);
          return Run;
        },
        &Check, Progress, Limits);
  }

  std::vector<VariantFault> Faults;       ///< One per run; an empty kernel means no fault.
  std::function<void(RunRecord &)> Twist; ///< Changes runs without a fault.
  bool NothingLeft = false;
  std::vector<std::string> Plans, Defaults;
  RecordedProgress Progress;
  OutputCheck Check{[this](const probe::TimeStretch &Stretch) -> llvm::Expected<RunRecord> {
    Defaults.push_back(Stretch.text());
    RunRecord Run = DefaultEnd;
    Run.Output.Stdout = Stretch.any() ? StretchedOutput : PlainOutput;
    return Run;
  }};
  std::string StretchedOutput = "sum 1\n", PlainOutput = "sum 1\n";
  RunRecord DefaultEnd; ///< How every run of the default ends.
};

} // namespace

TEST_F(TimingRunTest, run_withoutFaults_isMadeOnce) {
  TimingRunResult R = time();
  EXPECT_EQ(Plans, std::vector<std::string>{"plan"});
  EXPECT_EQ(R.Runs, 1u);
  EXPECT_EQ(R.Record.Replays.size(), 1u);
  EXPECT_FALSE(R.Difference || R.Failure);
  EXPECT_TRUE(Progress.Notes.empty() && Defaults.empty());
}

TEST_F(TimingRunTest, variant_withAFault_isLeftOutOfTheNextRun) {
  Faults = {{"k", "r3", "illegal address"}, {"j", "r2", "hung"}};
  TimingRunResult R = time();
  EXPECT_EQ(Plans, (std::vector<std::string>{"plan", "plan -kr3", "plan -kr3 -jr2"}));
  EXPECT_EQ(R.Runs, 3u);
  EXPECT_EQ(R.Record.Replays.size(), 3u) << "of the run that counts";
  ASSERT_EQ(R.Record.Faults.size(), 2u) << "for the selection";
  EXPECT_EQ(R.Record.Faults[0].Why, "illegal address");
  ASSERT_EQ(Progress.Notes.size(), 2u);
  EXPECT_EQ(Progress.Notes[0],
            "timing again: variant r3 of k ended the timing run: illegal address");
  EXPECT_EQ(R.Reruns.size(), 2u);
}

TEST_F(TimingRunTest, kernel_defaultHasAFault_isLeftOut) {
  for (const char *Variant : {"default", "control"}) {
    Plans.clear();
    Faults = {{"k", Variant, "hung"}};
    TimingRunResult R = time();
    EXPECT_EQ(R.Runs, 2u);
    EXPECT_EQ(R.Excluded.Kernels.count("k"), 1u);
    EXPECT_FALSE(R.Failure);
  }
}

TEST_F(TimingRunTest, kernel_manyFaults_isLeftOut) {
  Faults = {{"k", "r2", "a"}, {"k", "r3", "b"}, {"k", "r4", "c"}};
  TimingRunResult R = time();
  EXPECT_EQ(R.Runs, 4u);
  EXPECT_EQ(Plans.back(), "plan -kr2 -kr3 -kr4 -k");
  EXPECT_FALSE(R.Failure);
}

TEST_F(TimingRunTest, reruns_moreThanFive_fail) {
  for (char Kernel = 'a'; Kernel < 'z'; ++Kernel)
    Faults.push_back({std::string(1, Kernel), "r2", "hung"});
  TimingRunResult R = time();
  EXPECT_EQ(R.Runs, 6u);
  EXPECT_EQ(Progress.Notes.size(), 5u);
  ASSERT_TRUE(R.Failure);
  EXPECT_EQ(*R.Failure,
            "variant r2 of f ended the timing run: hung; not repeated: this happened 6 times");
  EXPECT_TRUE(R.Record.Replays.empty());
}

TEST_F(TimingRunTest, rerun_budgetSpent_isNotMade) {
  Faults = {{"k", "r3", "hung"}, {"k", "r2", "hung"}, {"j", "r2", "hung"}};
  TimingRunLimits Limits;
  Limits.WhyNoMore = [](unsigned Runs) -> std::optional<std::string> {
    return Runs < 2 ? std::nullopt : std::optional<std::string>("the budget is used up");
  };
  TimingRunResult R = time(Limits);
  EXPECT_EQ(R.Runs, 2u);
  EXPECT_EQ(Progress.Notes.size(), 1u);
  EXPECT_EQ(R.Failure, "variant r2 of k ended the timing run: hung; not repeated: the budget is "
                       "used up");
  EXPECT_EQ(R.Record.Faults.size(), 2u) << "whole runs leave them out, too";
}

/// Recorded samples give the same run again, with the faults of the runs before it.
TEST_F(TimingRunTest, fault_known_causesNoRerun) {
  Faults = {{"k", "r3", "hung"}, {"k", "r3", "hung"}};
  TimingRunResult R = time();
  EXPECT_EQ(R.Runs, 2u);
  EXPECT_EQ(R.Record.Replays.size(), 2u);
  EXPECT_EQ(R.Record.Faults.size(), 1u);
}

TEST_F(TimingRunTest, plan_empty_nothingRuns) {
  NothingLeft = true;
  EXPECT_EQ(time().Runs, 0u);
  EXPECT_TRUE(Plans.empty());
}

TEST_F(TimingRunTest, output_differsAndDefaultIsStable_isADifference) {
  Twist = rotating("sum 2\n");
  Check.stretchTimeBy({7, 8});
  TimingRunResult R = time();
  EXPECT_EQ(R.Difference, "line 1 of the output is 'sum 2' instead of 'sum 1'");
  EXPECT_EQ(Defaults, (std::vector<std::string>{"7 8", "0 0", "0 0", "0 0", "0 0"}));
  EXPECT_EQ(Check.runs(), 5u);
  EXPECT_EQ(R.Record.Replays.size(), 1u) << "replayed kernels keep their verdicts";
  // The default runs that were made already are not made again.
  time();
  EXPECT_EQ(Check.runs(), 5u);
}

TEST_F(TimingRunTest, output_dependsOnTime_isNoDifference) {
  Twist = rotating("sum 3\n");
  StretchedOutput = "sum 9\n";
  Check.stretchTimeBy({7, 8});
  EXPECT_FALSE(time().Difference);
  EXPECT_EQ(Defaults, std::vector<std::string>{"7 8"});
}

TEST_F(TimingRunTest, output_mayNotWait_isComparedAtOnce) {
  Twist = [](RunRecord &Run) { Run.Output = printing("sum 2\n"); };
  EXPECT_EQ(time().Difference, "line 1 of the output is 'sum 2' instead of 'sum 1'");
}

TEST_F(TimingRunTest, output_ofRotatedVariants_otherResultNeverWaits) {
  Twist = rotating("sum 2\n");
  TimingRunLimits Limits;
  Limits.OutputWaits = true;
  EXPECT_EQ(time(Limits).Difference, "line 1 of the output is 'sum 2' instead of 'sum 1'");
}

/// Many programs print how long they took, and a run of the default for that alone takes a part of
/// the budget.
TEST_F(TimingRunTest, output_ofRotatedVariants_waitsIfTimesAloneDiffer) {
  const std::string Printed = "sum 1\nelapsed 0.12 s\n", Other = "sum 1\nelapsed 0.15 s\n";
  constexpr MemoryOfRun Memory = MemoryOfRun::NotCompared;
  Check.reference().addDefault(printing(Printed));
  StretchedOutput = PlainOutput = Printed;
  TimingRunLimits Limits;
  Limits.OutputWaits = true;
  RunRecord Run;
  rotating(Other)(Run);
  auto Time = [&] {
    return valueOf(timeInRun([](const PlanExclusions &) { return "plan"; },
                             [&](const std::string &) -> llvm::Expected<RunRecord> { return Run; },
                             &Check, Progress, Limits));
  };
  EXPECT_FALSE(Time().Difference);
  EXPECT_TRUE(Defaults.empty());
  EXPECT_EQ(valueOf(Check.differenceOfKept(MemoryOfRun::Same)), std::nullopt);
  // Without a run, what is known of the default counts.
  EXPECT_EQ(valueOf(Check.differenceOfKept(Memory, /*MayRun=*/false)),
            "line 2 of the output is 'elapsed 0.15 s' instead of 'elapsed 0.12 s'");
  EXPECT_TRUE(Defaults.empty());
  EXPECT_EQ(valueOf(Check.differenceOfKept(Memory)), std::nullopt) << "it is told once";
  // A run of which records were lost does not wait: its difference would be told for nothing.
  Run.Probe.Dropped = 3;
  EXPECT_TRUE(Time().Difference);
  EXPECT_EQ(Defaults.size(), 4u);
  Run.Probe.Dropped = 0;
  // The default has run as often as it may, so the times are a fault at once.
  EXPECT_TRUE(Time().Difference);
  EXPECT_EQ(Defaults.size(), 4u);
  // Its own times change.
  Check.reference().addDefault(printing("sum 1\nelapsed 0.13 s\n"));
  EXPECT_FALSE(Time().Difference);
}

TEST_F(TimingRunTest, output_ofRotatedVariants_laterRunsShowThatTimesChange) {
  Check.reference().addDefault(printing("sum 1\nelapsed 0.12 s\n"));
  Check.keep(printing("sum 1\nelapsed 0.15 s\n"), MemoryOfRun::NotCompared);
  Check.reference().addDefault(printing("sum 1\nelapsed 0.13 s\n"));
  EXPECT_EQ(valueOf(Check.differenceOfKept(MemoryOfRun::NotCompared)), std::nullopt);
  EXPECT_EQ(Check.runs(), 0u);
}

TEST_F(TimingRunTest, output_nothingRotatedAndMayWait_isComparedWhenAsked) {
  Twist = [](RunRecord &Run) { Run.Output = printing("sum 2\n"); };
  Check.stretchTimeBy({7, 8});
  TimingRunLimits Limits;
  Limits.OutputWaits = true;
  EXPECT_FALSE(time(Limits).Difference);
  EXPECT_TRUE(Defaults.empty()) << "no result of a variant was used, so no run is made for it now";
  EXPECT_EQ(valueOf(Check.differenceOfKept(MemoryOfRun::Same)),
            "line 1 of the output is 'sum 2' instead of 'sum 1'");
  EXPECT_EQ(Defaults.size(), 5u);
  EXPECT_EQ(valueOf(Check.differenceOfKept(MemoryOfRun::Same)), std::nullopt) << "it is told once";
}

TEST_F(TimingRunTest, output_nothingRotated_laterRunsShowThatItChanges) {
  Twist = [](RunRecord &Run) { Run.Output = printing("sum 2\n"); };
  TimingRunLimits Limits;
  Limits.OutputWaits = true;
  EXPECT_FALSE(time(Limits).Difference);
  Check.reference().addDefault(printing("sum 3\n"));
  EXPECT_EQ(valueOf(Check.differenceOfKept(MemoryOfRun::Same)), std::nullopt);
  EXPECT_EQ(Check.runs(), 0u);
}

TEST_F(TimingRunTest, run_badEnd_doesNotCount) {
  const std::pair<std::function<void(RunRecord &)>, std::string> Cases[] = {
      {[](RunRecord &Run) { Run.TimedOut = true; }, "the timing run took too long"},
      {[](RunRecord &Run) { Run.Output.ExitStatus = 139; }, "exit status 139 instead of 0"},
      {[](RunRecord &Run) { Run.Probe.Dropped = 3; }, "3 activity records were lost"},
      {[](RunRecord &Run) { Run.Probe.Unswapped["c"] = "no memory"; },
       "an image could not be replaced: no memory"}};
  for (const auto &[Break, Why] : Cases) {
    Twist = Break;
    TimingRunResult R = time();
    EXPECT_EQ(R.Failure, Why);
    EXPECT_TRUE(R.Record.Replays.empty()) << Why;
  }
}

TEST_F(TimingRunTest, verdicts_ofARunThatDoesNotCount_areKept) {
  Twist = [](RunRecord &Run) {
    Run.TimedOut = true;
    Run.Probe.InRun.Verified = {{{"k", {}, 0}, "r3", Verdict::Differs, ""}};
  };
  EXPECT_EQ(time().Record.Verified.size(), 1u);
}

TEST_F(TimingRunTest, signal_duringTheRun_endsTheTuning) {
  Twist = [](RunRecord &Run) { Run.Interrupted = 2; };
  EXPECT_EQ(messageOf(tryTime()), "interrupted: 2");
}

TEST_F(TimingRunTest, signal_duringDefaultRuns_endsTheTuning) {
  Twist = rotating("sum 2\n");
  DefaultEnd.Interrupted = 15;
  EXPECT_EQ(messageOf(tryTime()), "interrupted: 15");
}

TEST_F(TimingRunTest, difference_defaultFails_remains) {
  Twist = rotating("sum 3\n");
  StretchedOutput = "sum 9\n";
  DefaultEnd.Output.ExitStatus = 139;
  Check.stretchTimeBy({7, 8});
  EXPECT_TRUE(time().Difference);
  EXPECT_EQ(Check.runs(), 1u);
}
