#include "Tune/Outcome/DecidedKernel.h"
#include "Store/ProfileReader.h"

#include "unit/Tune/Outcome/OutcomeTesting.h"

using namespace carve;

TEST(DecidedKernel, shape_asText_namesClusterAndCooperation) {
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

TEST(DecidedKernel, roundsOfAnotherVariant_areNoEvidence) {
  TuningJob Job = sampleJob();
  JobBuild Built = sampleBuild(Job);
  InRunTuning InRun;
  InRun.Choices.resize(2);
  InRun.Outcomes.resize(2);
  InRunOutcome &O = InRun.Outcomes[0];
  O.Reason = "the rounds do not decide";
  O.Timing = InRunTiming::Replay;
  O.HeldOutRounds = 7;
  O.Ratio = {0.97, 0.9, 1.1};
  SelectionOutcome Outcome = sampleOutcome();
  TuningReport R = reportOf(Job, Built, TuningScope::Kernel, Outcome, &InRun);
  EXPECT_EQ(R.Kernels[0].InRun.Rounds, 7u);
  EXPECT_EQ(R.Kernels[1].InRun.Mode, "") << "it has no variants";
  for (const Decision &D : decisionsIn(Job, Built, TuningScope::Kernel, Outcome, &InRun).Kernels)
    EXPECT_EQ(D.Basis->Rounds, 0u);
}

TEST(DecidedKernel, winnersAndWhatStays_areDecisions) {
  TuningJob Job = sampleJob();
  JobBuild Built = sampleBuild(Job);
  SelectionOutcome O = sampleOutcome();
  O.Subjects[1].Reason = "no variant was faster";
  Profile P = decisionsIn(Job, Built, TuningScope::Kernel, O);
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
  // The decisions are the same after the profile is printed and parsed.
  Profile Again = valueOf(parseProfile(printProfile(P), "p"));
  EXPECT_EQ(printProfile(Again), printProfile(P));
}

TEST(DecidedKernel, winnerBeyondTheFirstEntry_isAFurtherEntry) {
  TuningJob Job = sampleJob();
  JobBuild Built = sampleBuild(Job);
  SelectionOutcome O = sampleOutcome();
  ASSERT_NE(O.Subjects[0].Chosen, 0u);
  JobVariant &Winner = Built.Kernels[0].Variants[O.Subjects[0].Chosen];
  Winner.Resources.RegsPerThread = 96;
  Winner.CodeDigest = "code of the winner";
  Built.Kernels[0].FirstEntryRegs = 96;
  EXPECT_TRUE(decisionsIn(Job, Built, TuningScope::Kernel, O).Kernels[0].Entries.empty());
  Built.Kernels[0].FirstEntryRegs = 64;
  Profile P = decisionsIn(Job, Built, TuningScope::Kernel, O);
  const Decision *Won = P.candidates("av(float*)", "_Z2avPf", "sm_90").at(0);
  EXPECT_TRUE(Won->Variant.isDefault());
  EXPECT_FALSE(Won->isDefault());
  EXPECT_EQ(Won->Basis->CodeDigest, "") << "nothing is known of the first entry";
  ASSERT_EQ(Won->Entries.size(), 1u);
  EXPECT_EQ(Won->Entries[0].When, (EntryGuard{.MaxThreads = 640}));
  EXPECT_EQ(Won->Entries[0].Variant, Winner.Setting);
  EXPECT_EQ(Won->Entries[0].CodeDigest, "code of the winner");
  const KernelLaunches &Traced = Job.Kernels[0].Traced.Shapes[0];
  EXPECT_EQ(Won->Entries[0].Held, (GuardHold{Traced.Launches, Traced.Launches, 1}));
  Profile Again = valueOf(parseProfile(printProfile(P), "p"));
  EXPECT_EQ(printProfile(Again), printProfile(P));
  TuningReport R = reportOf(Job, Built, TuningScope::Kernel, O);
  EXPECT_EQ(R.Kernels[0].Entries,
            (std::vector<EntryHold>{{"threads <= 640", variantName(Winner.Setting), std::nullopt,
                                     *Won->Entries[0].Held}}));
  EXPECT_EQ(R.Kernels[0].Variant, variantName(Winner.Setting));
}

TEST(DecidedKernel, winnerWithSeveralCodes_isAnEntryForEach) {
  TuningJob Job = sampleJob();
  JobBuild Built = sampleBuild(Job);
  SelectionOutcome O = sampleOutcome();
  JobVariant &Winner = Built.Kernels[0].Variants[O.Subjects[0].Chosen];
  Winner.Setting.FrontEnd = FrontEndKnob::KnownShapes;
  VariantSetting OfEach = Winner.Setting;
  OfEach.FrontEnd = FrontEndKnob::KnownLaunch;
  Winner.Codes = {{{{{1, 4, 256}}, {}, {{8, 1, 1}}}, OfEach, "a", Winner.Resources, "first"},
                  {{{{1, 4, 512}}, {}, {}}, OfEach, "b", Winner.Resources, "second"}};
  summarizeCodes(Winner);
  Profile P = decisionsIn(Job, Built, TuningScope::Kernel, O);
  const Decision *Won = P.candidates("av(float*)", "_Z2avPf", "sm_90").at(0);
  EXPECT_TRUE(Won->Variant.isDefault());
  EXPECT_EQ(Won->Basis->CodeDigest, "");
  ASSERT_EQ(Won->Entries.size(), 2u);
  EXPECT_EQ(Won->Entries[0].When.Grid, (std::array<unsigned, 3>{8, 1, 1}));
  EXPECT_EQ(Won->Entries[1].When.Arguments, (std::vector<ArgumentValue>{{1, 4, 512}}));
  for (size_t I : {0, 1}) {
    EXPECT_EQ(Won->Entries[I].Variant, OfEach);
    EXPECT_EQ(Won->Entries[I].CodeDigest, I ? "second" : "first");
  }
  Profile Again = valueOf(parseProfile(printProfile(P), "p"));
  EXPECT_EQ(Again.Kernels[0].Entries, P.Kernels[0].Entries);
  TuningReport R = reportOf(Job, Built, TuningScope::Kernel, O);
  ASSERT_EQ(R.Kernels[0].Entries.size(), 2u);
  for (size_t I : {0, 1}) {
    EXPECT_EQ(R.Kernels[0].Entries[I].When, guardText(Won->Entries[I].When));
    EXPECT_EQ(R.Kernels[0].Entries[I].Now, Won->Entries[I].Held);
  }
  EXPECT_EQ(R.Kernels[0].Variant, variantName(Winner.Setting));
}

TEST(DecidedKernel, composedWinner_isAnEntryForEachOfItsSettings) {
  TuningJob Job = sampleJob();
  JobBuild Built = sampleBuild(Job);
  SelectionOutcome O = sampleOutcome();
  JobVariant &Winner = Built.Kernels[0].Variants[O.Subjects[0].Chosen];
  Winner.Composed = "r64+r32+default";
  Winner.Setting = {.Cap = 64};
  Winner.Codes = {{{{}, {{256, 1, 1}}, {{8, 1, 1}}}, {.Cap = 64}, "a", Winner.Resources, "first"},
                  {{{}, {{256, 1, 1}}, {}}, {.Cap = 32}, "b", {}, "second"}};
  summarizeCodes(Winner);
  EXPECT_FALSE(needsComparedOutput(Winner));
  EXPECT_EQ(namesOf(Built.Kernels[0].Variants)[O.Subjects[0].Chosen], Winner.Composed);
  Profile P = decisionsIn(Job, Built, TuningScope::Kernel, O);
  const Decision *Won = P.candidates("av(float*)", "_Z2avPf", "sm_90").at(0);
  EXPECT_TRUE(Won->Variant.isDefault());
  ASSERT_EQ(Won->Entries.size(), 2u);
  EXPECT_EQ(Won->Entries[0],
            (FurtherEntry{{.Block = {{256, 1, 1}}, .Grid = {{8, 1, 1}}}, {.Cap = 64}, "first"}));
  EXPECT_EQ(Won->Entries[1], (FurtherEntry{{.Block = {{256, 1, 1}}}, {.Cap = 32}, "second"}));
  Profile Again = valueOf(parseProfile(printProfile(P), "p"));
  EXPECT_EQ(Again.Kernels[0].Entries, P.Kernels[0].Entries);
  TuningReport R = reportOf(Job, Built, TuningScope::Kernel, O);
  const std::vector<EntryHold> &Entries = R.Kernels[0].Entries;
  ASSERT_EQ(Entries.size(), 2u);
  EXPECT_EQ(Entries[0].When + ": " + Entries[0].Variant, "block 256x1x1, grid 8x1x1: r64");
  EXPECT_EQ(Entries[1].When + ": " + Entries[1].Variant, "block 256x1x1: r32");
  EXPECT_EQ(R.Kernels[0].Variant, Winner.Composed);
  Winner.Codes[1].Setting.OptimizationLevel = 1;
  EXPECT_TRUE(needsComparedOutput(Winner)) << "one of its codes needs it";
}

TEST(DecidedKernel, budgetSpent_isAKnownReason) {
  TuningJob Job = sampleJob();
  JobBuild Built = sampleBuild(Job);
  SelectionOutcome O = sampleOutcome();
  O.Subjects[0].Chosen = 0;
  O.Subjects[0].Reason = BudgetReason;
  const DecidedKernel D = decideKernels(Job, Built, TuningScope::Kernel, O)[0].Kernels[0];
  EXPECT_TRUE(D.Reason == KnownReason::Budget);
  EXPECT_EQ(decisionsIn(Job, Built, TuningScope::Kernel, O).Kernels[0].Basis->Reason, "budget");
}

TEST(DecidedKernel, fileScope_decisionsHoldOneCap) {
  TuningJob Job = sampleJob();
  JobBuild Built = sampleBuild(Job);
  std::string Image = recordedPtx("kernels.sm_90.cuda-13.0.88.cubin");
  Built.Modules[0].FileVariants = {
      {{}, "", {}, "", Image}, {{}, "", {}, "", Image}, {{48}, "", {}, "", Image}};
  SelectionOutcome O;
  O.Subjects.resize(1);
  O.Subjects[0].Chosen = O.Subjects[0].Candidate = 2;
  O.Subjects[0].Screened = {{2, {0.9}, std::nullopt}};
  TuningReport R = reportOf(Job, Built, TuningScope::File, O);
  EXPECT_EQ(R.Scope, "file");
  ASSERT_EQ(R.Kernels.size(), 2u);
  EXPECT_EQ(R.Kernels[0].Variant, "r48");
  EXPECT_EQ(R.tunedKernels(), 2u);
  Profile P = decisionsIn(Job, Built, TuningScope::File, O);
  EXPECT_EQ(P.FileCap, 48u);
  ASSERT_EQ(P.Kernels.size(), 2u);
  EXPECT_TRUE(P.Kernels[0].Variant.isDefault());
  O.Subjects[0].Chosen = 0;
  EXPECT_FALSE(decisionsIn(Job, Built, TuningScope::File, O).FileCap);
}

TEST(DecidedKernel, source_isNamedBelowItsProject) {
  TuningJob Job = sampleJob();
  JobBuild Built = sampleBuild(Job);
  SelectionOutcome O = sampleOutcome();
  auto SourceOf = [&] {
    return decisionsIn(Job, Built, TuningScope::Kernel, O).Kernels[0].Basis->Source;
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
  // Of twins, the first by name is taken, in whatever order they were found.
  U.Source = "/home/dev/p/src/k.cu";
  Job.Modules[0].Twins = {U};
  Job.Modules[0].Twins[0].Source = "/home/dev/p/a/k.cu";
  EXPECT_EQ(SourceOf(), "a/k.cu");
  std::swap(Job.Modules[0].Source, Job.Modules[0].Twins[0]);
  EXPECT_EQ(SourceOf(), "a/k.cu");
}

TEST(DecidedKernel, imageMadeOfPtx_hasADigestOfItsOwn) {
  TuningJob Job = sampleJob();
  JobBuild Built = sampleBuild(Job);
  SelectionOutcome O = sampleOutcome();
  Profile Compiled = decisionsIn(Job, Built, TuningScope::Kernel, O);
  Job.Modules[0].Image.CubinDigest.clear(); // imageForDevice() derives such an image.
  Profile FromPtx = decisionsIn(Job, Built, TuningScope::Kernel, O);
  EXPECT_NE(Compiled.Kernels[0].Digest, FromPtx.Kernels[0].Digest);
  EXPECT_EQ(FromPtx.Kernels[0].Digest,
            decisionDigest("digest-of-_Z2avPf", "sm_90", "13.0.88",
                           Job.Modules[0].Image.PtxasOptions, ImageOrigin::FromPtx));
}
