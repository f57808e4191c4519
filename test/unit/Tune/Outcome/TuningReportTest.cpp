#include "Tune/Outcome/TuningReport.h"
#include "Store/ProfileReader.h"

#include "unit/Tune/TuneTesting.h"

using namespace carve;

/// `_Z2avPf` won with r32; `init` had nothing to try.
static SelectionOutcome sampleOutcome() {
  SelectionOutcome O;
  O.Subjects.resize(2);
  SubjectOutcome &Won = O.Subjects[0];
  Won.Chosen = Won.Candidate = 2;
  Won.Screened = {{2, {0.9, 0.91, 0.89}, std::nullopt}, {3, {}, "exit status 1 instead of 0"}};
  Won.Ratio = {0.9, 0.89, 0.92};
  Won.Pairs = 9;
  O.Runs = 30;
  O.Pairs = 9;
  O.Program = {0.93, 0.92, 0.94};
  O.Wall = {0.99, 0.97, 1.01};
  return O;
}

TEST(TuningReport, ShapesAsText) {
  KernelLaunches L;
  L.Shape.Grid = {512, 204, 1};
  L.Shape.Block = {32, 1, 1};
  EXPECT_EQ(shapeText(L), "grid 512x204x1 block 32x1x1 dynamic-smem 0");
  L.Shape.DynamicSmemBytes = 4096;
  L.Shape.Cluster = {2, 1, 1};
  L.Cooperative = true;
  EXPECT_EQ(shapeText(L),
            "grid 512x204x1 block 32x1x1 dynamic-smem 4096 cluster 2x1x1 cooperative");
}

TEST(TuningReport, DescribesWinnersAndWhatStays) {
  TuningJob Job = sampleJob();
  Job.Left.push_back({{"hidden", 0.1, 3, {launches("hidden", 32, 7)}}, "in-no-unit", 20});
  TuningReport R = describeTuning(Job, TuningScope::Kernel, sampleOutcome());
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
  EXPECT_EQ(Won.OccupancyBefore, 0.75); // 6 blocks of 256 threads.
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
  EXPECT_EQ(Stays.Reason, "no other setting gives other code that may be faster");
  EXPECT_EQ(Left.Reason, "in-no-unit");
  EXPECT_EQ(Left.RegsBefore, 20u);
}

TEST(TuningReport, DescribesTheTimingRun) {
  TuningJob Job = sampleJob();
  Job.Kernels[1].Variants.resize(2);
  addVariant(Job.Kernels[1], 48);
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
  TuningReport R = describeTuning(Job, TuningScope::Kernel, Outcome, &InRun);
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

  Profile P = decisionsFor(Job, 0, TuningScope::Kernel, Outcome, R);
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

TEST(TuningReport, RoundsOfAnotherVariantAreNoEvidence) {
  TuningJob Job = sampleJob();
  InRunTuning InRun;
  InRun.Choices.resize(2);
  InRun.Outcomes.resize(2);
  InRunOutcome &O = InRun.Outcomes[0];
  O.Reason = "the rounds do not tell";
  O.Timing = InRunTiming::Replay;
  O.HeldOutRounds = 7;
  O.Ratio = {0.97, 0.9, 1.1};
  SelectionOutcome Outcome = sampleOutcome();
  TuningReport R = describeTuning(Job, TuningScope::Kernel, Outcome, &InRun);
  EXPECT_EQ(R.Kernels[0].InRun.Rounds, 7u);
  EXPECT_EQ(R.Kernels[1].InRun.Mode, "") << "it has no variants";
  for (const Decision &D : decisionsFor(Job, 0, TuningScope::Kernel, Outcome, R).Kernels)
    EXPECT_EQ(D.Basis->Rounds, 0u);
}

TEST(TuningReport, ListsEightShapesAndCountsTheRest) {
  TuningJob Job = sampleJob();
  for (unsigned I = 1; I <= 10; ++I)
    Job.Kernels[0].Traced.Shapes.push_back(launches("_Z2avPf", 32 * I, 1));
  TuningReport R = describeTuning(Job, TuningScope::Kernel, sampleOutcome());
  ASSERT_EQ(R.Kernels[0].Shapes.size(), 9u);
  EXPECT_EQ(R.Kernels[0].Shapes.back(), "and 3 more");
}

TEST(TuningReport, DecisionsForWinnersAndForWhatStays) {
  TuningJob Job = sampleJob();
  SelectionOutcome O = sampleOutcome();
  O.Subjects[1].Reason = "no variant was faster";
  TuningReport R = describeTuning(Job, TuningScope::Kernel, O);
  R.Date = "2026-11-20T12:00:00Z";
  R.Workload = "./app 4096";
  Profile P = decisionsFor(Job, 0, TuningScope::Kernel, O, R);
  EXPECT_FALSE(P.FileCap);
  ASSERT_EQ(P.Kernels.size(), 2u);
  ASSERT_EQ(P.candidates("av(float*)", "_Z2avPf", "sm_90").size(), 1u);
  const Decision *Won = P.candidates("av(float*)", "_Z2avPf", "sm_90").front();
  EXPECT_EQ(Won->Variant.Cap, 32u);
  EXPECT_EQ(Won->Digest, decisionDigest("digest-of-_Z2avPf", "sm_90", "13.0.88",
                                        Job.Modules[0].Image.PtxasOptions));
  ASSERT_TRUE(Won->Basis);
  EXPECT_EQ(Won->Basis->DefaultRegs, 40u);
  EXPECT_EQ(Won->Basis->TunedRegs, 32u);
  EXPECT_EQ(Won->Basis->CodeDigest, "code32");
  EXPECT_EQ(Won->Basis->Ratio, 0.9);
  EXPECT_EQ(Won->Basis->RatioHigh, 0.92);
  EXPECT_EQ(Won->Basis->Pairs, 9u);
  EXPECT_EQ(Won->Basis->Device, "NVIDIA H200");
  EXPECT_EQ(Won->Basis->Date, "2026-11-20T12:00:00Z");
  EXPECT_EQ(Won->Basis->Workload, "./app 4096");
  EXPECT_EQ(Won->Basis->Shapes,
            std::vector<std::string>{"grid 1000x1x1 block 256x1x1 dynamic-smem 0"});
  EXPECT_EQ(Won->Basis->Toolkit, "13.0.88");
  EXPECT_EQ(Won->Basis->Options, Job.Modules[0].Image.PtxasOptions);
  EXPECT_EQ(Won->Basis->Source, "k.cu");
  EXPECT_EQ(Won->Basis->DefaultSpillBytes, 0u);
  EXPECT_EQ(Won->Basis->TunedSpillBytes, 16u);
  ASSERT_EQ(P.candidates("init", "init", "sm_90").size(), 1u);
  const Decision *Stays = P.candidates("init", "init", "sm_90").front();
  EXPECT_TRUE(Stays->Variant.isDefault());
  EXPECT_EQ(Stays->Basis->Reason, "no variant was faster");
  EXPECT_EQ(Stays->Basis->CodeDigest, "");
  // What is decided survives the profile.
  Profile Again = valueOf(parseProfile(printProfile(P), "p"));
  EXPECT_EQ(printProfile(Again), printProfile(P));
}

TEST(TuningReport, FileDecisionsHoldOneCap) {
  TuningJob Job = sampleJob();
  std::string Image = recordedPtx("kernels.sm_90.cuda-13.0.88.cubin");
  Job.Modules[0].FileVariants = {
      {{}, "", {}, "", Image}, {{}, "", {}, "", Image}, {{48}, "", {}, "", Image}};
  SelectionOutcome O;
  O.Subjects.resize(1);
  O.Subjects[0].Chosen = O.Subjects[0].Candidate = 2;
  O.Subjects[0].Screened = {{2, {0.9}, std::nullopt}};
  TuningReport R = describeTuning(Job, TuningScope::File, O);
  EXPECT_EQ(R.Scope, "file");
  ASSERT_EQ(R.Kernels.size(), 2u);
  EXPECT_EQ(R.Kernels[0].Variant, "r48");
  EXPECT_EQ(R.tunedKernels(), 2u);
  Profile P = decisionsFor(Job, 0, TuningScope::File, O, R);
  EXPECT_EQ(P.FileCap, 48u);
  ASSERT_EQ(P.Kernels.size(), 2u);
  EXPECT_TRUE(P.Kernels[0].Variant.isDefault());
  O.Subjects[0].Chosen = 0;
  EXPECT_FALSE(decisionsFor(Job, 0, TuningScope::File, O, R).FileCap);
}

TEST(TuningReport, SourcesAreNamedAsEveryMachineNamesThem) {
  TuningJob Job = sampleJob();
  SelectionOutcome O = sampleOutcome();
  auto SourceOf = [&] {
    TuningReport R = describeTuning(Job, TuningScope::Kernel, O);
    return decisionsFor(Job, 0, TuningScope::Kernel, O, R).Kernels[0].Basis->Source;
  };
  Unit &U = Job.Modules[0].Source;
  U.Project = "/home/dev/p";
  U.Directory = "/home/dev/p/build";
  U.Source = "../src/k.cu";
  EXPECT_EQ(SourceOf(), "src/k.cu");
  U.Source = "/home/dev/p/src/k.cu";
  EXPECT_EQ(SourceOf(), "src/k.cu");
  U.Source = "/home/dev/project/k.cu";
  EXPECT_EQ(SourceOf(), "k.cu");
  // Of twins the first by name, in whatever order they were found.
  U.Source = "/home/dev/p/src/k.cu";
  Job.Modules[0].Twins = {U};
  Job.Modules[0].Twins[0].Source = "/home/dev/p/a/k.cu";
  EXPECT_EQ(SourceOf(), "a/k.cu");
  std::swap(Job.Modules[0].Source, Job.Modules[0].Twins[0]);
  EXPECT_EQ(SourceOf(), "a/k.cu");
}

TEST(TuningReport, ADecisionForAnImageMadeOfPtxHoldsForThatAlone) {
  TuningJob Job = sampleJob();
  SelectionOutcome O = sampleOutcome();
  TuningReport R = describeTuning(Job, TuningScope::Kernel, O);
  Profile Compiled = decisionsFor(Job, 0, TuningScope::Kernel, O, R);
  Job.Modules[0].Image.CubinDigest.clear(); // As imageForDevice() derives it.
  Profile FromPtx = decisionsFor(Job, 0, TuningScope::Kernel, O, R);
  EXPECT_NE(Compiled.Kernels[0].Digest, FromPtx.Kernels[0].Digest);
  EXPECT_EQ(FromPtx.Kernels[0].Digest,
            decisionDigest("digest-of-_Z2avPf", "sm_90", "13.0.88",
                           Job.Modules[0].Image.PtxasOptions, ImageOrigin::FromPtx));
}
