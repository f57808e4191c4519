#include "Tune/InRunTuning.h"
#include "SimulatedRun.h"
#include "TuneTesting.h"

using namespace carve;

namespace {

/// A job of three kernels, with a timing run of each.
class InRunTuningTest : public testing::Test {
protected:
  InRunTuningTest() {
    for (const char *Name : {"k0", "k1", "k2"}) {
      JobKernel K = sampleKernel(Name, 0.3);
      addVariant(K, 32);
      addVariant(K, 64);
      K.Traced.Shapes[0].Shape = SimulatedRun::place(0, 0).Shape;
      Job.Kernels.push_back(K);
      Choices.emplace_back();
      Choices.back().Mode = TimingMode::Replay;
      Choices.back().Reason = "10 launches of 1 ms";
    }
    Choices[1].Mode = TimingMode::VerifyRotate;
    Run.replay({shapeOf({0.8, 0.9})});
    Run.rotate({shapeOf({0.8, 0.9})});
    Run.replay({shapeOf({1.1, 1.1})});
    Result.Record = Run.Record;
    Subjects = {{"k0", 4}, {"k1", 4}, {"k2", 4}};
  }

  InRunTuning judged() {
    InRunTuning T = judgeTimingRun(Job, Choices, Result);
    applyInRun(T, Subjects);
    return T;
  }

  TuningJob Job;
  std::vector<ModeChoice> Choices;
  SimulatedRun Run;
  TimingRunResult Result;
  std::vector<SubjectSpace> Subjects;
};

} // namespace

TEST_F(InRunTuningTest, TellsTheSelectionWhatIsDecided) {
  InRunTuning T = judged();
  EXPECT_EQ(Subjects[0].Nominee, 2u);
  EXPECT_EQ(Subjects[1].Nominee, 2u);
  EXPECT_EQ(Subjects[2].Nominee, 0u);
  EXPECT_NE(Subjects[2].Stays, "");
  EXPECT_TRUE(Subjects[0].Stays.empty() && Subjects[0].Excluded.empty());
  EXPECT_EQ(modeOf(T, 0), "replay");
  EXPECT_EQ(modeOf(T, 1), "verify-rotate");
  EXPECT_EQ(modeReasonOf(T, 0), "10 launches of 1 ms");
}

TEST_F(InRunTuningTest, AKernelOfWholeRunsIsUndecidedForItsReason) {
  Choices[0].Mode = TimingMode::Fixed;
  Choices[0].Reason = "started from graphs";
  InRunTuning T = judged();
  EXPECT_EQ(Subjects[0].Nominee, 0u);
  EXPECT_EQ(Subjects[0].Stays, "");
  EXPECT_EQ(modeOf(T, 0), "fixed");
  EXPECT_EQ(modeReasonOf(T, 0), "started from graphs");
  EXPECT_EQ(Subjects[1].Nominee, 2u);
}

TEST_F(InRunTuningTest, VariantsThatAreOutStayOutOfWholeRuns) {
  Choices[0].Mode = TimingMode::Fixed;
  Result.Record.Faults = {{"k0", 3, "hung"}};
  judged();
  EXPECT_EQ(Subjects[0].Excluded, (std::map<size_t, std::string>{{3, "hung"}}));
}

TEST_F(InRunTuningTest, AKernelThatWasLeftOutIsUndecided) {
  Result.Excluded.Kernels["k0"] = "the default of it ended a timing run: hung";
  InRunTuning T = judged();
  EXPECT_EQ(Subjects[0].Nominee, 0u);
  EXPECT_EQ(modeReasonOf(T, 0), "the default of it ended a timing run: hung");
  EXPECT_EQ(Subjects[1].Nominee, 2u);
}

TEST_F(InRunTuningTest, ARunThatDoesNotCountDecidesNothing) {
  Result.Failure = "the timing run took too long";
  InRunTuning T = judged();
  for (const SubjectSpace &S : Subjects)
    EXPECT_TRUE(S.Nominee == 0 && S.Stays.empty());
  EXPECT_EQ(modeReasonOf(T, 2), "the timing run took too long");
}

TEST_F(InRunTuningTest, AnotherOutputLeavesReplaysAlone) {
  Result.Difference = "line 1 differs";
  InRunTuning T = judged();
  EXPECT_EQ(Subjects[0].Nominee, 2u);
  EXPECT_EQ(Subjects[1].Nominee, 0u);
  EXPECT_NE(Subjects[2].Stays, "");
  EXPECT_EQ(modeOf(T, 1), "fixed");
}

TEST_F(InRunTuningTest, AKernelThatCouldNotBeReplayedSaysWhyItWasRotated) {
  Result.Record.StoodBack = {{"k1", "managed memory"}};
  for (TimingMode Mode : {TimingMode::Replay, TimingMode::VerifyRotate}) {
    Choices[1].Mode = Mode;
    InRunTuning T = judged();
    EXPECT_EQ(Subjects[1].Nominee, 2u);
    EXPECT_EQ(modeOf(T, 1), "rotate");
    EXPECT_EQ(modeReasonOf(T, 1), "not replayed: managed memory");
  }
}

TEST_F(InRunTuningTest, RecordsOfVariantsThatAreNotThereAreNothing) {
  Result.Record.Faults = {{"k0", 99, "hung"}};
  Result.Record.Verified.push_back({SimulatedRun::place(0, 0), 98, Verdict::Differs, ""});
  InRunTuning T = judged();
  EXPECT_TRUE(T.Outcomes[0].Rejected.empty());
  EXPECT_EQ(Subjects[0].Nominee, 2u);
}
