#include "Tune/Outcome/TuningReport.h"
#include "Store/ProfileReader.h"

#include "unit/Tune/Outcome/OutcomeTesting.h"

using namespace carve;

TEST(TuningReport, winnersAndWhatStays_areDescribed) {
  TuningJob Job = sampleJob();
  JobBuild Built = sampleBuild(Job);
  Job.Left.push_back({{"hidden", 0.1, 3, {launches("hidden", 32, 7)}}, KnownReason::InNoUnit, 20});
  TuningReport R = reportOf(Job, Built, TuningScope::Kernel, sampleOutcome());
  EXPECT_EQ(R.Device, "NVIDIA H200");
  EXPECT_EQ(R.Scope, "kernel");
  EXPECT_EQ(R.Runs, 30u);
  EXPECT_EQ(R.VariantsTimed, 2u);
  EXPECT_EQ(R.tunedKernels(), 1u);
  ASSERT_EQ(R.Kernels.size(), 3u);
  const KernelReport &Won = R.Kernels[0], &Stays = R.Kernels[1], &Left = R.Kernels[2];
  EXPECT_EQ(Won.Kernel, "av(float*)");
  EXPECT_EQ(Won.Output, "k.o");
  EXPECT_TRUE(Won.Tuned);
  EXPECT_EQ(Won.Variant, "r32");
  EXPECT_EQ(Won.RegsBefore, 40u);
  EXPECT_EQ(Won.RegsAfter, 32u);
  EXPECT_EQ(Won.SpillAfter, 16u);
  EXPECT_EQ(Won.OccupancyBefore, 0.75); // 6 blocks of 256 threads are resident.
  EXPECT_EQ(Won.OccupancyAfter, 1);
  ASSERT_EQ(Won.Variants.size(), 2u);
  EXPECT_EQ(Won.Variants[0].Name, "r32");
  EXPECT_EQ(Won.Variants[0].Ratio, 0.9);
  EXPECT_EQ(Won.Variants[0].RatioLow, 0.89);
  EXPECT_EQ(Won.Variants[0].RatioHigh, 0.91);
  EXPECT_EQ(Won.Variants[1].Fault, "exit status 1 instead of 0");
  EXPECT_EQ(Won.Variants[1].Ratio, 0);
  EXPECT_EQ(Won.Variants[1].RatioHigh, 0);
  EXPECT_FALSE(Stays.Tuned);
  EXPECT_EQ(Stays.Variant, "default");
  EXPECT_EQ(Stays.RegsAfter, 40u);
  EXPECT_EQ(Stays.Reason.text(), "no other setting gives other code that may be faster");
  EXPECT_EQ(Left.Reason.text(), "in-no-unit");
  EXPECT_EQ(Left.RegsBefore, 20u);
  Built.Kernels[1].End.Untried = 3;
  R = reportOf(Job, Built, TuningScope::Kernel, sampleOutcome());
  EXPECT_EQ(R.Kernels[1].Reason, StayReason(KnownReason::Budget));
}

TEST(TuningReport, timingRun_isDescribed) {
  TuningJob Job = sampleJob();
  JobBuild Built = sampleBuild(Job);
  Built.Kernels[1].Variants.resize(2);
  addVariant(Built.Kernels[1], 48);
  InRunTuning InRun;
  InRun.Choices.resize(2);
  InRun.Choices[0].Mode = TimingMode::Replay;
  InRun.Choices[0].Reason = "10 launches of 7 ms";
  InRun.Outcomes.resize(2);
  InRunOutcome &O = InRun.Outcomes[0];
  O.Verdict = InRunVerdict::Nominated;
  O.Nominee = 2;
  O.Timing = InRunTiming::Replay;
  O.Proof = OutputProof::WithinSpread;
  O.HeldOutRounds = 7;
  O.Ratio = {0.91, 0.9, 0.92};
  O.Ratios = {1, 1, 0.93, 0};
  O.Intervals = {{1, 1, 1}, {1, 1, 1}, {0.93, 0.92, 0.95}, {0, 0, 0}};
  O.Rejected = {{3, "its output differs from the default's"}};
  O.ColdNs = 2000;
  InRun.Outcomes[1].Reason = "started from graphs";
  InRun.Run.Reruns = {"variant 3 hung"};
  SelectionOutcome Outcome = sampleOutcome();
  Outcome.Subjects[0].Screened = {{2, {}, std::nullopt}, {3, {}, std::nullopt}};
  Outcome.Subjects[1].Screened = {{2, {}, std::nullopt}};
  TuningReport R = reportOf(Job, Built, TuningScope::Kernel, Outcome, &InRun);
  EXPECT_EQ(R.Reruns, InRun.Run.Reruns);
  const KernelReport &Won = R.Kernels[0], &Fixed = R.Kernels[1];
  EXPECT_EQ(Won.InRun.Mode, "replay");
  EXPECT_EQ(Won.InRun.Reason, "10 launches of 7 ms");
  EXPECT_EQ(Won.InRun.Verified, "within-spread");
  EXPECT_EQ(Won.InRun.Rounds, 7u);
  EXPECT_EQ(Won.InRun.Ratio.Low, 0.9);
  EXPECT_EQ(Won.InRun.ColdNs, 2000);
  EXPECT_EQ(Won.Variants[0].Ratio, 0.93);
  EXPECT_EQ(Won.Variants[0].RatioLow, 0.92);
  EXPECT_EQ(Won.Variants[0].RatioHigh, 0.95);
  EXPECT_EQ(Won.Variants[1].RatioHigh, 0);
  EXPECT_EQ(Won.Variants[1].Fault, "its output differs from the default's");
  EXPECT_EQ(Fixed.InRun.Mode, "fixed");
  EXPECT_EQ(Fixed.InRun.Reason, "started from graphs");
  EXPECT_EQ(Fixed.InRun.Rounds, 0u);

  Profile P = decisionsIn(Job, Built, TuningScope::Kernel, Outcome, &InRun);
  for (const Decision &D : P.Kernels) {
    bool IsWon = D.Kernel == "av(float*)";
    EXPECT_EQ(D.Basis->Mode, IsWon ? "replay" : "fixed");
    EXPECT_EQ(D.Basis->Verified, IsWon ? "within-spread" : "");
    EXPECT_EQ(D.Basis->Rounds, IsWon ? 7u : 0u);
    EXPECT_EQ(D.Basis->InRunRatioHigh, IsWon ? 0.92 : 1);
  }
  llvm::Expected<Profile> Again = parseProfile(printProfile(P), "p");
  ASSERT_TRUE(bool(Again)) << llvm::toString(Again.takeError());
  EXPECT_EQ(printProfile(*Again), printProfile(P));
}

TEST(TuningReport, manyShapes_eightAreListedAndTheRestCounted) {
  TuningJob Job = sampleJob();
  JobBuild Built = sampleBuild(Job);
  for (unsigned I = 1; I <= 10; ++I)
    Job.Kernels[0].Traced.Shapes.push_back(launches("_Z2avPf", 32 * I, 1));
  TuningReport R = reportOf(Job, Built, TuningScope::Kernel, sampleOutcome());
  ASSERT_EQ(R.Kernels[0].Shapes.size(), 9u);
  EXPECT_EQ(R.Kernels[0].Shapes.back(), "and 3 more");
}
