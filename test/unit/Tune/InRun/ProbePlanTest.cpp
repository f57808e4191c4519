#include "Tune/InRun/ProbePlan.h"

#include "Probe/Driver/Plan.h"
#include "Tune/WholeRuns/JobImages.h"
#include "unit/Tune/TuneTesting.h"

using namespace carve;

/// What the probe reads of \p Text.
static probe::Plan readBack(const std::string &Text) {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-plan"));
  std::string Path = Dir.path() + "/plan";
  EXPECT_EQ(messageOf(writeFileAtomically(Path, Text)), "");
  probe::Plan Plan;
  EXPECT_TRUE(Plan.read(Path.c_str())) << Text;
  return Plan;
}

/// The sample job, with a choice that plans both kernels.
struct Planned {
  TuningJob Job = sampleJob();
  std::vector<ModeChoice> Choices{2};

  Planned() {
    addVariant(Job.Kernels[1], 48);
    LaunchShape Shape;
    Shape.Grid = {10, 20, 30};
    Shape.Block = {256, 2, 1};
    Shape.DynamicSmemBytes = 4096;
    Shape.Cluster = {2, 1, 1};
    Choices[0].Mode = TimingMode::Replay;
    Choices[0].MayRotate = true;
    Choices[0].Shapes = {{Shape, 12, 1, 1e6 / 3}, {{}, 9, 2, 2.5}};
    Choices[1].Mode = TimingMode::VerifyRotate;
    Choices[1].Shapes = {{{}, 1, 4, 5e9}};
  }
};

TEST(ProbePlan, TheProbeReadsWhatWasMeant) {
  Planned P;
  probe::Plan Plan = readBack(printPlan(P.Job, P.Choices, {}, {77, 60'000, 9'000}));
  EXPECT_EQ(Plan.Seed, 77u);
  EXPECT_EQ(Plan.ReplayMs, 60'000u);
  EXPECT_EQ(Plan.HangMs, 9'000u);
  ASSERT_EQ(Plan.Kernels.size(), 2u);
  const probe::PlannedKernel *K = Plan.find("_Z2avPf");
  ASSERT_TRUE(K);
  EXPECT_EQ(K->Mode, probe::TimingMode::Replay);
  EXPECT_TRUE(K->MayRotate);
  ASSERT_EQ(K->variants(), P.Job.Kernels[0].Variants.size());
  for (size_t V = 1; V < K->variants(); ++V)
    EXPECT_EQ(K->Clones[V - 1], P.Job.Kernels[0].Variants[V].CloneName);
  ASSERT_EQ(K->Shapes.size(), 2u);
  probe::LaunchShape Shape{{10, 20, 30}, {256, 2, 1}, 4096, {2, 1, 1}};
  const probe::PlannedShape *S = K->find(Shape);
  ASSERT_TRUE(S);
  EXPECT_EQ(S->Launches, 12u);
  EXPECT_EQ(S->MeanNs, 333333);
  EXPECT_TRUE(K->Excluded.empty());
  K = Plan.find("init");
  ASSERT_TRUE(K);
  EXPECT_EQ(K->Mode, probe::TimingMode::VerifyRotate);
  EXPECT_FALSE(K->MayRotate);
}

TEST(ProbePlan, LaunchesAreThoseOfOneProcess) {
  Planned P;
  probe::Plan Plan = readBack(printPlan(P.Job, P.Choices, {}, {}));
  EXPECT_EQ(Plan.find("_Z2avPf")->Shapes[1].Launches, 4u); // 9 in two processes.
  EXPECT_EQ(Plan.find("init")->Shapes[0].Launches, 1u);
}

TEST(ProbePlan, EveryModeHasItsWord) {
  Planned P;
  for (auto [Mode, Read] : {std::pair{TimingMode::Rotate, probe::TimingMode::Rotate},
                            std::pair{TimingMode::Replay, probe::TimingMode::Replay},
                            std::pair{TimingMode::VerifyRotate, probe::TimingMode::VerifyRotate}}) {
    P.Choices[0].Mode = Mode;
    EXPECT_EQ(readBack(printPlan(P.Job, P.Choices, {}, {})).find("_Z2avPf")->Mode, Read);
  }
  P.Choices[0].Mode = TimingMode::Fixed;
  EXPECT_FALSE(readBack(printPlan(P.Job, P.Choices, {}, {})).find("_Z2avPf"));
}

TEST(ProbePlan, WhatWasAtFaultIsNotRunAgain) {
  Planned P;
  auto Plan = [&](std::vector<InRunRecord::Fault> Faults) {
    return readBack(printPlan(P.Job, P.Choices, Faults, {}));
  };
  EXPECT_EQ(Plan({{"_Z2avPf", 2, "hung"}, {"_Z2avPf", 2, "hung"}}).find("_Z2avPf")->Excluded,
            std::set<size_t>{2});
  // Nothing left to try, of this kernel alone.
  probe::Plan None = Plan({{"_Z2avPf", 2, "hung"}, {"_Z2avPf", 3, "hung"}});
  EXPECT_FALSE(None.find("_Z2avPf"));
  EXPECT_TRUE(None.find("init"));
  // It cannot even be replayed as it is.
  EXPECT_FALSE(Plan({{"_Z2avPf", 0, "hung"}}).find("_Z2avPf"));
}

/// Rounds time a part of the job's variants, which the probe numbers by themselves.
TEST(ProbePlan, NumbersWhatIsInTheModule) {
  Planned P;
  JobKernel &K = P.Job.Kernels[0]; // r32, r64
  addVariant(K, 48);
  K.Variants[2].InModule = false;
  probe::Plan Plan = readBack(printPlan(P.Job, P.Choices, {{K.Traced.Kernel, 4, "hung"}}, {}));
  const probe::PlannedKernel *Read = Plan.find("_Z2avPf");
  ASSERT_TRUE(Read);
  ASSERT_EQ(Read->variants(), 4u);
  EXPECT_EQ(Read->Clones[1], K.Variants[3].CloneName);
  EXPECT_EQ(Read->Clones[2], K.Variants[4].CloneName);
  EXPECT_EQ(Read->Excluded, std::set<size_t>{3});
  InRunRecord Record;
  LaunchPlace Place{"_Z2avPf", {}, 0};
  Record.Timed = {{Place, true, 0, 0, 1, 1}, {Place, true, 0, 3, 2, 2}, {Place, true, 0, 4, 3, 3}};
  Record.Faults = {{"_Z2avPf", 2, "hung"}, {"gone", 2, "hung"}};
  takePlanNumbers(Record, P.Job);
  ASSERT_EQ(Record.Timed.size(), 2u) << "the plan had no fifth variant";
  EXPECT_EQ(Record.Timed[0].Variant, 0u);
  EXPECT_EQ(Record.Timed[1].Variant, 4u);
  ASSERT_EQ(Record.Faults.size(), 1u);
  EXPECT_EQ(Record.Faults[0].Variant, 3u);
}

TEST(ProbePlan, WhatComputesSomethingElseIsReplayedOrLeftOut) {
  Planned P;
  P.Job.Kernels[0].Variants[2].InModule = false;
  P.Job.Kernels[0].Variants[3].OnlyTimed = true;
  EXPECT_FALSE(readBack(printPlan(P.Job, P.Choices, {}, {})).find("_Z2avPf"))
      << "where it cannot be replayed it would be rotated";
  addVariant(P.Job.Kernels[0], 40);
  P.Choices[0].MayRotate = false;
  const probe::Plan Plan = readBack(printPlan(P.Job, P.Choices, {}, {}));
  ASSERT_TRUE(Plan.find("_Z2avPf"));
  EXPECT_EQ(Plan.find("_Z2avPf")->Measured, (std::set<size_t>{2})) << "numbered as in the plan";
  EXPECT_TRUE(Plan.find("init")->Measured.empty());
  P.Choices[0].Mode = TimingMode::VerifyRotate;
  EXPECT_FALSE(readBack(printPlan(P.Job, P.Choices, {}, {})).find("_Z2avPf"));
}

TEST(JobImages, WhatComputesSomethingElseIsNeverPutInPlace) {
  TuningJob Job = sampleJob();
  Job.Modules[0].Cubin = "anything";
  Job.Kernels[0].Variants[2].OnlyTimed = true;
  TempDir Dir = llvm::cantFail(TempDir::create("carve-images-test"));
  EXPECT_EQ(messageOf(placeImages(Job, TuningScope::Kernel, {2, 0}, Dir.path())),
            "_Z2avPf__carve_r32 computes something else than its kernel");
}
