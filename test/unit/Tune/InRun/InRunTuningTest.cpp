#include "Tune/InRun/InRunTuning.h"
#include "SimulatedRun.h"
#include "Tune/InRun/TimedShapes.h"
#include "unit/Tune/TuneTesting.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;

namespace {

/// A job with three kernels and a timing run of each.
class InRunTuningTest : public testing::Test {
protected:
  InRunTuningTest() {
    for (const char *Name : {"k0", "k1", "k2"}) {
      JobKernel K = sampleKernel(Name, 0.3);
      K.Traced.Shapes[0].Shape = SimulatedRun::place(0, 0).Shape;
      Job.Kernels.push_back(K);
      Built.Kernels.push_back(sampleBuild(K));
      addVariant(Built.Kernels.back(), 32);
      addVariant(Built.Kernels.back(), 64);
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
    InRunTuning T = judgeTimingRun(Job, Built, Choices, Result);
    applyInRun(T, Built, Subjects);
    return T;
  }

  TuningJob Job;
  JobBuild Built;
  std::vector<ModeChoice> Choices;
  SimulatedRun Run;
  TimingRunResult Result;
  std::vector<SubjectSpace> Subjects;
};

} // namespace

TEST_F(InRunTuningTest, nomineeThatMayMoveLastBits_isSuspect) {
  InRunTuning T = judged();
  Built.Kernels[1].Variants[2].Setting.FrontEnd = FrontEndKnob::NewerLlvm;
  applyInRun(T, Built, Subjects);
  EXPECT_FALSE(Subjects[0].MayMoveBits);
  EXPECT_TRUE(Subjects[1].MayMoveBits);
  EXPECT_FALSE(Subjects[2].MayMoveBits) << "nothing is nominated";
}

TEST_F(InRunTuningTest, onePair_confirmsLargeGainsOfWhatWasCompared) {
  InRunTuning T = judged();
  InRunOutcome &O = T.Outcomes[0];
  EXPECT_NEAR(sureGain(O), 0.2, 0.02);
  EXPECT_DOUBLE_EQ(gainOfOnePair(O), sureGain(O));
  EXPECT_EQ(sureGain(T.Outcomes[2]), 0) << "nothing is nominated";
  O.Ratio.High = 0.95;
  EXPECT_NEAR(sureGain(O), 0.05, 1e-9);
  EXPECT_EQ(gainOfOnePair(O), 0);
  O.Ratio.High = 0.8;
  O.Covered = 0.9;
  EXPECT_EQ(gainOfOnePair(O), 0) << "launches with a tenth of its time were not timed";
  O.Covered = 1;
  O.Proof = OutputProof::ProgramOutput;
  EXPECT_EQ(gainOfOnePair(O), 0);
  EXPECT_NEAR(sureGain(O), 0.2, 1e-9);
}

TEST_F(InRunTuningTest, subjects_afterATimingRun_haveWhatIsDecided) {
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

TEST_F(InRunTuningTest, kernel_modeFixed_isUndecidedForItsReason) {
  Choices[0].Mode = TimingMode::Fixed;
  Choices[0].Reason = "started from graphs";
  InRunTuning T = judged();
  EXPECT_EQ(Subjects[0].Nominee, 0u);
  EXPECT_EQ(Subjects[0].Stays, "");
  EXPECT_EQ(modeOf(T, 0), "fixed");
  EXPECT_EQ(modeReasonOf(T, 0), "started from graphs");
  EXPECT_EQ(Subjects[1].Nominee, 2u);
}

TEST_F(InRunTuningTest, variant_withAFault_isExcludedFromWholeRuns) {
  Choices[0].Mode = TimingMode::Fixed;
  Result.Record.Faults = {{"k0", "r64", "hung"}};
  judged();
  EXPECT_EQ(Subjects[0].Excluded, (std::map<size_t, std::string>{{3, "hung"}}));
}

TEST_F(InRunTuningTest, kernel_leftOutOfThePlan_isUndecided) {
  Result.Excluded.Kernels["k0"] = "the default of it ended a timing run: hung";
  InRunTuning T = judged();
  EXPECT_EQ(Subjects[0].Nominee, 0u);
  EXPECT_EQ(modeReasonOf(T, 0), "the default of it ended a timing run: hung");
  EXPECT_EQ(Subjects[1].Nominee, 2u);
}

TEST_F(InRunTuningTest, timingRun_failed_decidesNothing) {
  Result.Failure = "the timing run took too long";
  InRunTuning T = judged();
  for (const SubjectSpace &S : Subjects)
    EXPECT_TRUE(S.Nominee == 0 && S.Stays.empty());
  EXPECT_EQ(modeReasonOf(T, 2), "the timing run took too long");
}

TEST_F(InRunTuningTest, timingRun_outputDiffers_onlyRotatedKernelsAreUndecided) {
  Result.Difference = "line 1 differs";
  InRunTuning T = judged();
  EXPECT_EQ(Subjects[0].Nominee, 2u);
  EXPECT_EQ(Subjects[1].Nominee, 0u);
  EXPECT_NE(Subjects[2].Stays, "");
  EXPECT_EQ(modeOf(T, 1), "fixed");
}

TEST_F(InRunTuningTest, kernel_notReplayable_saysWhyItWasRotated) {
  Result.Record.StoodBack = {{"k1", "managed memory"}};
  for (TimingMode Mode : {TimingMode::Replay, TimingMode::VerifyRotate}) {
    Choices[1].Mode = Mode;
    InRunTuning T = judged();
    EXPECT_EQ(Subjects[1].Nominee, 2u);
    EXPECT_EQ(modeOf(T, 1), "rotate");
    EXPECT_EQ(modeReasonOf(T, 1), "not replayed: managed memory");
  }
}

TEST_F(InRunTuningTest, records_ofUnknownVariants_areIgnored) {
  Result.Record.Faults = {{"k0", "r99", "hung"}};
  Result.Record.Verified.push_back({SimulatedRun::place(0, 0), "r98", Verdict::Differs, ""});
  InRunTuning T = judged();
  EXPECT_TRUE(T.Outcomes[0].Rejected.empty());
  EXPECT_EQ(Subjects[0].Nominee, 2u);
}

/// Plans and records do not say that a launch was cooperative.
TEST_F(InRunTuningTest, records_ofACooperativeLaunch_areFound) {
  Job.Kernels[0].Traced.Shapes[0].Cooperative = true;
  InRunTuning T = judged();
  EXPECT_EQ(Subjects[0].Nominee, 2u);
  EXPECT_EQ(T.Outcomes[0].Proof, OutputProof::Bitwise);
}

/// The plan has the representative alone; what it stands for is known from the choice.
TEST_F(InRunTuningTest, choiceWithARepresentative_weighsItByItsGroup) {
  std::vector<KernelLaunches> &Shapes = Job.Kernels[0].Traced.Shapes;
  for (size_t I = 1; I < 4; ++I) {
    Shapes.push_back(Shapes[0]);
    Shapes[I].Shape = SimulatedRun::place(0, I).Shape;
  }
  Shapes.push_back(Shapes[0]);
  Shapes.back().Cooperative = true;
  EXPECT_NEAR(judged().Outcomes[0].Covered, 0.4, 1e-9);
  Choices[0].Shapes = {
      TimedShape{Shapes[0].Shape, 20, 1, 15e6, {Shapes[2].Shape, Shapes[3].Shape}, 600e6}};
  InRunTuning T = judged();
  const InRunOutcome &O = T.Outcomes[0];
  EXPECT_NEAR(O.Covered, 0.8, 1e-9);
  EXPECT_EQ(O.Nominee, 2u);
  ASSERT_EQ(O.Shapes.size(), 5u);
  for (size_t I = 0; I < 5; ++I)
    EXPECT_EQ(O.Shapes[I].InGroup, I != 1) << I;
  EXPECT_TRUE(O.Shapes[1].Ratios.empty());
}

namespace {

/// Adds outcomes of several rounds of one kernel.
class RoundsOfOneKernel : public testing::Test {
protected:
  RoundsOfOneKernel() {
    Job.Kernels = {sampleKernel("k", 1)};
    Built = defaultsOf(Job);
    for (unsigned Cap : {32, 48, 64})
      addVariant(Built.Kernels[0], Cap);
    All = untimed(Job);
  }
  static InRunOutcome outcome(InRunVerdict Verdict, std::vector<double> Ratios,
                              size_t Nominee = 0) {
    InRunOutcome O;
    O.Verdict = Verdict;
    O.Nominee = Nominee;
    O.Reason = Verdict == InRunVerdict::Nominated ? "" : "because";
    for (double R : Ratios)
      O.Intervals.push_back({R, R - 0.01, R + 0.01});
    O.Ratios = std::move(Ratios);
    if (Nominee)
      O.Ratio = O.Intervals[Nominee];
    return O;
  }
  const InRunOutcome &add(InRunOutcome O, const char *Choice = "replayed") {
    InRunTuning Next = untimed(Job);
    Next.Outcomes[0] = std::move(O);
    Next.Choices[0].Mode = TimingMode::Replay;
    Next.Choices[0].Reason = Choice;
    addTimingRun(All, std::move(Next), Built);
    return All.Outcomes[0];
  }

  TuningJob Job;
  JobBuild Built;
  InRunTuning All;
};

constexpr InRunVerdict Nominated = InRunVerdict::Nominated, Stays = InRunVerdict::Stays,
                       Undecided = InRunVerdict::Undecided;

} // namespace

TEST_F(RoundsOfOneKernel, nominee_inTwoRounds_theLastCounts) {
  EXPECT_EQ(add(outcome(Nominated, {1, 1, 0.9, 1.1, 0}, 2)).Nominee, 2u);
  EXPECT_EQ(bestSoFar(All, 0), 2u);
  const InRunOutcome &O = add(outcome(Nominated, {1, 1, 0.92, 0, 0.8}, 4), "rotated");
  EXPECT_EQ(O.Nominee, 4u);
  EXPECT_EQ(O.Ratios, (std::vector<double>{1, 1, 0.92, 1.1, 0.8}));
  ASSERT_EQ(O.Intervals.size(), 5u);
  for (size_t V = 0; V < 5; ++V)
    EXPECT_EQ(O.Intervals[V].Median, O.Ratios[V]) << V;
  EXPECT_EQ(All.Choices[0].Reason, "rotated");
  EXPECT_EQ(variantsLeft(All, 0, Built), std::vector<size_t>{4});
}

/// A rotation times no variant whose output it cannot compare. So the best of a replay may be
/// missing in it.
TEST_F(RoundsOfOneKernel, nominee_notInTheNextRound_theFasterCounts) {
  for (double Next : {0.95, 0.85}) {
    All = untimed(Job);
    add(outcome(Nominated, {1, 1, 0.9, 1.1, 0}, 2), "replayed");
    const InRunOutcome &O = add(outcome(Nominated, {1, 1, 0, 0, Next}, 4), "rotated");
    EXPECT_EQ(O.Nominee, Next < 0.9 ? 4u : 2u);
    EXPECT_EQ(O.Ratios, (std::vector<double>{1, 1, 0.9, 1.1, Next}));
    EXPECT_EQ(All.Choices[0].Reason, Next < 0.9 ? "rotated" : "replayed");
  }
  All = untimed(Job);
  add(outcome(Nominated, {1, 1, 0.9, 1.1, 0}, 2));
  InRunOutcome Rejecting = outcome(Nominated, {1, 1, 0, 0, 0.95}, 4);
  Rejecting.Rejected = {{2, "its output differs"}};
  EXPECT_EQ(add(std::move(Rejecting)).Nominee, 4u);
}

TEST_F(RoundsOfOneKernel, nominee_nextRoundHasNone_remains) {
  for (InRunVerdict Next : {Stays, Undecided}) {
    All = untimed(Job);
    add(outcome(Nominated, {1, 1, 0.9, 1.1, 0}, 2), "first");
    const InRunOutcome &O = add(outcome(Next, {1, 1, 0.95, 0, 1.2}), "second");
    EXPECT_EQ(O.Nominee, 2u);
    EXPECT_EQ(O.Ratios[2], 0.9);
    EXPECT_EQ(O.Ratios[4], 1.2);
    EXPECT_EQ(All.Choices[0].Reason, "first");
  }
}

TEST_F(RoundsOfOneKernel, nominee_rejectedLater_isDropped) {
  add(outcome(Nominated, {1, 1, 0.9, 1.1, 0}, 2));
  InRunOutcome Next = outcome(Stays, {1, 1, 0, 0, 1.2});
  Next.Rejected = {{2, "its output differs"}};
  EXPECT_EQ(add(std::move(Next)).Verdict, Stays);
  EXPECT_EQ(bestSoFar(All, 0), 0u);
  EXPECT_TRUE(variantsLeft(All, 0, Built).empty());
}

TEST_F(RoundsOfOneKernel, nomineeRejectedLater_anotherWasFast_wholeRunsDecide) {
  add(outcome(Nominated, {1, 1, 0.9, 0.95, 0}, 2));
  InRunOutcome Next = outcome(Stays, {1, 1, 0, 0, 1.2});
  Next.Rejected = {{2, "its output differs"}};
  const InRunOutcome &O = add(std::move(Next));
  EXPECT_EQ(O.Verdict, Undecided);
  EXPECT_NE(O.Reason, "because");
  EXPECT_EQ(bestSoFar(All, 0), 3u);
  EXPECT_EQ(variantsLeft(All, 0, Built), (std::vector<size_t>{3, 4}));
}

TEST_F(RoundsOfOneKernel, timesOfShapes_areThoseOfAllRounds) {
  auto Timed = [](InRunOutcome O, std::vector<double> Ratios) {
    InRunShapeTimes Of{1e6, {}};
    for (double R : Ratios)
      Of.Ratios.push_back({R, R, R});
    O.Shapes = {std::move(Of), InRunShapeTimes{2e6, {}}};
    return O;
  };
  add(Timed(outcome(Nominated, {1, 1, 0.9, 1.1, 0}, 2), {1, 1, 0.8, 1.2, 0}));
  for (bool Later : {true, false}) {
    const InRunOutcome &O =
        add(Timed(outcome(Later ? Nominated : Stays, {1, 1, 0.9, 0, 1.3}, Later ? 2 : 0),
                  {1, 1, Later ? 0.85 : 0.7, 0, 1.4}));
    ASSERT_EQ(O.Shapes.size(), 2u);
    ASSERT_EQ(O.Shapes[0].Ratios.size(), 5u);
    EXPECT_EQ(O.Shapes[0].Ratios[2].Median, 0.85) << "of the run whose outcome counts";
    EXPECT_EQ(O.Shapes[0].Ratios[3].Median, 1.2);
    EXPECT_EQ(O.Shapes[0].Ratios[4].Median, 1.4);
    EXPECT_EQ(O.Shapes[1].TotalNs, 2e6);
  }
}

/// A grid that was once timed for a group is not told apart any more: its times are mixed.
TEST_F(RoundsOfOneKernel, shapeThatHadARepresentative_isInAGroup) {
  for (bool First : {true, false}) {
    All = untimed(Job);
    InRunOutcome A = outcome(Nominated, {1, 1, 0.9, 1.1, 0}, 2), B = A;
    A.Shapes = {InRunShapeTimes{1e6, {}, First}};
    B.Shapes = {InRunShapeTimes{1e6, {}, !First}};
    add(std::move(A));
    EXPECT_TRUE(add(std::move(B)).Shapes[0].InGroup);
  }
}

TEST_F(RoundsOfOneKernel, verdict_oneRoundUndecided_isUndecided) {
  add(outcome(Undecided, {1, 1, 0.97, 1.1, 0}));
  EXPECT_EQ(bestSoFar(All, 0), 2u);
  InRunOutcome Next = outcome(Stays, {1, 1, 0, 0, 1.2});
  Next.Rejected = {{3, "wrote elsewhere"}};
  EXPECT_EQ(add(std::move(Next)).Verdict, Undecided);
  EXPECT_EQ(variantsLeft(All, 0, Built), (std::vector<size_t>{2, 4}));
  All = untimed(Job);
  add(outcome(Stays, {1, 1, 1.2, 1.1, 0}));
  EXPECT_EQ(add(outcome(Undecided, {1, 1, 0, 0, 0.98})).Verdict, Undecided);
}

TEST_F(RoundsOfOneKernel, kernel_notInTheRound_keepsItsOutcome) {
  add(outcome(Stays, {1, 1, 1.2, 1.1, 0}));
  for (JobVariant &V : Built.Kernels[0].Variants)
    V.InModule = false;
  EXPECT_EQ(add(outcome(Undecided, {})).Verdict, Stays);
}

/// The launches of k0 are of two classes: the first has most of the time, and in it r64 is faster
/// than r32, which is faster in the second one.
TEST_F(InRunTuningTest, dividedShape_isJudgedByTheTimeOfItsClasses) {
  TracedKernel &K = Job.Kernels[0].Traced;
  KernelLaunches &L = K.Shapes[0];
  L.Launches = 2000;
  L.TotalNs = 44'000'000;
  K.Classes = {{"k0", L.Shape, 7, 1000, 4'000'000}, {"k0", L.Shape, 8, 1000, 40'000'000}};
  Choices[0].Shapes = timedShapes(K);
  ASSERT_EQ(Choices[0].Shapes.size(), 2u);
  SimulatedRun Own;
  LaunchPlace First = SimulatedRun::place(0, 0), Second = First;
  First.Shape.Class = 1;
  Second.Shape.Class = 2;
  Own.replayLaunch(First, shapeOf({1.02, 0.9}, 40'000));
  Own.replayLaunch(Second, shapeOf({0.7, 1.1}, 4'000));
  Result.Record = Own.Record;
  InRunTuning T = judged();
  EXPECT_EQ(T.Outcomes[0].Nominee, 3u) << T.Outcomes[0].Reason;
  EXPECT_NEAR(T.Outcomes[0].Ratio.Median, (10 * 0.9 + 1.1) / 11, 0.005);
  EXPECT_EQ(T.Outcomes[0].Proof, OutputProof::Bitwise);
  EXPECT_NEAR(T.Outcomes[0].Covered, 1, 1e-9);
  EXPECT_EQ(T.Outcomes[0].Shapes.size(), 2u);
}

namespace {

/// The first kernel has less and less to do: its launches take 75, 60, 40 and 20 us in the middle
/// of its segments, which have 10 ms each. What r64 gains is the more the longer a launch takes.
class SegmentsOfAKernel : public InRunTuningTest {
protected:
  SegmentsOfAKernel() {
    KernelLaunches &L = kernel().Shapes[0];
    L.Launches = 1000;
    L.TotalNs = 40'000'000;
    const uint64_t First[] = {0, 133, 300, 550, 1000};
    for (unsigned S = 0; S < 4; ++S)
      kernel().Segments.push_back({"k0", L.Shape, First[S], First[S + 1] - First[S], 10'000'000,
                                   First[S] + 60, uint64_t(Ns[S])});
    Choices[0].Shapes = segmentedShapes(kernel());
    Result.Record = {};
  }
  TracedKernel &kernel() { return Job.Kernels[0].Traced; }
  /// Adds a replay of segment number \p Segment, from 0.
  void replayed(unsigned Segment) {
    LaunchPlace Place = SimulatedRun::place(0, 0);
    Place.Shape.Class = Segment + 1;
    SimulatedRun Own(Segment);
    Own.replayLaunch(Place, shapeOf({1.02, Ratio[Segment]}, Ns[Segment]));
    llvm::append_range(Result.Record.Timed, Own.Record.Timed);
    llvm::append_range(Result.Record.Verified, Own.Record.Verified);
  }

  const double Ns[4] = {75e3, 60e3, 40e3, 20e3}, Ratio[4] = {0.7, 0.8, 0.9, 0.98};
};

} // namespace

TEST_F(SegmentsOfAKernel, areWeighedByTheirTime) {
  for (unsigned Segment = 0; Segment < 4; ++Segment)
    replayed(Segment);
  InRunTuning T = judged();
  const InRunOutcome &O = T.Outcomes[0];
  EXPECT_EQ(O.Nominee, 3u) << O.Reason;
  EXPECT_NEAR(O.Ratio.Median, (0.7 + 0.8 + 0.9 + 0.98) / 4, 0.005);
  EXPECT_NEAR(O.Covered, 1, 1e-9);
  EXPECT_NEAR(O.ReplayDistance, 0, 0.01) << "each is compared with the launch that was replayed";
  EXPECT_EQ(O.Proof, OutputProof::Bitwise);
  ASSERT_EQ(O.Shapes.size(), 4u);
  for (const InRunShapeTimes &S : O.Shapes)
    EXPECT_FALSE(S.InGroup);
}

/// The replay of a segment may have had no time, or the program made fewer launches.
TEST_F(SegmentsOfAKernel, nearestReplayedSegment_standsForOneWithoutTimes) {
  replayed(0);
  replayed(1);
  InRunTuning T = judged();
  const InRunOutcome &O = T.Outcomes[0];
  EXPECT_EQ(O.Nominee, 3u) << O.Reason;
  EXPECT_NEAR(O.Ratio.Median, (0.7 + 3 * 0.8) / 4, 0.005);
  EXPECT_NEAR(O.Covered, 1, 1e-9);
  ASSERT_EQ(O.Shapes.size(), 4u);
  EXPECT_EQ(O.Shapes[3].Ratios.size(), O.Shapes[1].Ratios.size());
  EXPECT_FALSE(O.Shapes[3].InGroup) << "their grid is the same";
}

/// There was no time for four replays, so the shape was replayed as one.
TEST_F(SegmentsOfAKernel, shapeThatWasTimedAsAWhole_countsForAllSegments) {
  Choices[0].Shapes = timedShapes(kernel());
  SimulatedRun Own;
  Own.replayLaunch(SimulatedRun::place(0, 0), shapeOf({1.02, 0.85}, 40e3));
  Result.Record = Own.Record;
  InRunTuning T = judged();
  const InRunOutcome &O = T.Outcomes[0];
  EXPECT_EQ(O.Nominee, 3u) << O.Reason;
  EXPECT_NEAR(O.Ratio.Median, 0.85, 0.005);
  EXPECT_NEAR(O.Covered, 1, 1e-9);
  EXPECT_NEAR(O.ReplayDistance, 0, 0.01) << "the mean of all launches is 40 us";
  EXPECT_EQ(O.Shapes.size(), 4u) << "as many as in rounds that replay segments";
  EXPECT_FALSE(O.Shapes[0].InGroup);
}

TEST_F(SegmentsOfAKernel, recordedTimes_tellWhetherThereWereSegments) {
  replayed(0);
  replayed(2);
  EXPECT_EQ(shapesTimedIn(Result.Record, kernel()).size(), 4u);
  SimulatedRun Own;
  Own.replayLaunch(SimulatedRun::place(0, 0), shapeOf({1.02, 0.85}, 40e3));
  EXPECT_EQ(shapesTimedIn(Own.Record, kernel()).size(), 1u);
}
