#include "Tune/InRun/SharedTiming.h"

#include "unit/Tune/TuneTesting.h"

using namespace carve;

namespace {

/// A job in which both kernels have variants, and what two GPUs found of them.
class SharedTimingTest : public testing::Test {
protected:
  SharedTimingTest() {
    addVariant(Built.Kernels[1], 32);
    addVariant(Built.Kernels[1], 64);
    for (ModeChoice &C : Choices) {
      C.Mode = TimingMode::Replay;
      C.Reason = "10 launches";
    }
    for (size_t K = 0; K < 2; ++K) {
      Parts[K].Record = replayOf(Job.Kernels[K].Traced);
      Parts[K].Runs = 1;
      Parts[K].WallS = 2.0 + double(K);
    }
  }

  /// A replay in which r32 takes two thirds of the default's time, and r64 more.
  static InRunRecord replayOf(const TracedKernel &Kernel) {
    InRunRecord R;
    const LaunchPlace Place{Kernel.Kernel, Kernel.Shapes[0].Shape, 0};
    const std::pair<std::string, double> Times[] = {
        {"default", 60000}, {"control", 60000}, {"r32", 40000}, {"r64", 70000}};
    for (const auto &[Variant, Ns] : Times) {
      R.Verified.push_back({Place, Variant, Verdict::Equal, "-"});
      for (unsigned Round = 0; Round < 12; ++Round)
        R.Timed.push_back({Place, Round >= 5, Round, Variant, Ns + double(Round), 0});
    }
    return R;
  }

  InRunTuning judged() {
    return judgeTimingRuns(Job, Built, Choices, Parts, std::vector<size_t>{0, 1});
  }

  TuningJob Job = sampleJob();
  JobBuild Built = sampleBuild(Job);
  std::vector<ModeChoice> Choices{2};
  std::vector<TimingRunResult> Parts{2};
};

using Gpus = std::vector<size_t>;

} // namespace

TEST(SharedKernels, costs_largestFirst_areBalanced) {
  EXPECT_EQ(shareKernels({1, 5, 4, 3, 2}, 2), (Gpus{0, 0, 1, 1, 0}));
  EXPECT_EQ(shareKernels({1, 1, 1, 1}, 4), (Gpus{0, 1, 2, 3}));
  EXPECT_EQ(shareKernels({1, 1}, 4), (Gpus{0, 1})) << "two GPUs have nothing to do";
  EXPECT_EQ(shareKernels({3, 1, 2}, 1), (Gpus{0, 0, 0}));
  EXPECT_TRUE(shareKernels({}, 3).empty());
}

TEST_F(SharedTimingTest, runs_ofTwoGpus_decideTheirOwnKernels) {
  InRunTuning T = judged();
  for (const InRunOutcome &O : T.Outcomes)
    EXPECT_EQ(O.Nominee, 2u) << O.Reason;
  EXPECT_FALSE(T.Run.Failure);
  EXPECT_EQ(T.Run.Runs, 2u);
  EXPECT_EQ(T.Run.WallS, 3) << "they were made at the same time";
  EXPECT_EQ(T.Run.Record.Timed.size(), 96u);
}

TEST_F(SharedTimingTest, run_failedOnOneGpu_costsOnlyItsKernels) {
  Parts[1].Failure = "the timing run took too long";
  Parts[1].Record.Timed.clear();
  InRunTuning T = judged();
  EXPECT_EQ(T.Outcomes[0].Nominee, 2u) << T.Outcomes[0].Reason;
  EXPECT_EQ(T.Outcomes[1].Verdict, InRunVerdict::Undecided);
  EXPECT_EQ(T.Outcomes[1].Reason, "the timing run took too long");
  EXPECT_FALSE(T.Run.Failure);
  EXPECT_EQ(T.Run.Excluded.Kernels.at("init"), "the timing run took too long");
  EXPECT_EQ(T.Run.Excluded.Kernels.size(), 1u);
}

TEST_F(SharedTimingTest, runs_failedOnAllGpus_fail) {
  Parts[0].Failure = "exit status 1";
  Parts[1].Failure = "exit status 2";
  InRunTuning T = judged();
  EXPECT_EQ(T.Run.Failure, "exit status 1");
  EXPECT_EQ(T.Outcomes[1].Reason, "exit status 2");
}

TEST_F(SharedTimingTest, difference_onOneGpu_leavesTheOthersVerdicts) {
  for (TimingRunResult &Part : Parts)
    Part.Record.Verified.clear(); // What was not compared relies on the program's output.
  std::vector<InRunOutcome> Same = judged().Outcomes;
  Parts[1].Difference = "line 1 of the output differs";
  InRunTuning T = judged();
  EXPECT_EQ(T.Run.Difference, "line 1 of the output differs");
  EXPECT_EQ(T.Outcomes[0].Nominee, Same[0].Nominee);
  EXPECT_EQ(T.Outcomes[0].Reason, Same[0].Reason);
}

TEST_F(SharedTimingTest, faultsAndReruns_ofAllRuns_areJoined) {
  Parts[0].Excluded.Faults = {{"_Z2avPf", "r64", "hung"}};
  Parts[1].Excluded.Faults = {{"init", "r32", "hung"}};
  Parts[1].Excluded.Kernels["init"] = "it ended a timing run";
  Parts[0].Reruns = {"a"};
  Parts[1].Reruns = {"b", "c"};
  TimingRunResult R = joinTimingRuns(Job, Parts, Gpus{0, 1});
  EXPECT_EQ(R.Excluded.Faults.size(), 2u);
  EXPECT_EQ(R.Excluded.Kernels.size(), 1u);
  EXPECT_EQ(R.Reruns, (std::vector<std::string>{"a", "b", "c"}));
}
