#include "Tune/InRun/ProbePlan.h"

#include "Probe/Driver/Plan.h"
#include "Tune/InRun/TimedShapes.h"
#include "Tune/WholeRuns/JobImages.h"
#include "unit/Tune/TuneTesting.h"

using namespace carve;

/// The names of the variants of \p K, each with its clone's name.
static std::vector<std::string> variantsOf(const probe::PlannedKernel &K) {
  std::vector<std::string> Names;
  for (const probe::PlannedKernel::Variant &V : K.Variants)
    Names.push_back(V.Name + " " + V.Clone);
  return Names;
}

/// The plan that the probe reads from \p Text.
static probe::Plan readBack(const std::string &Text) {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-plan"));
  std::string Path = Dir.path() + "/plan";
  EXPECT_EQ(messageOf(writeFileAtomically(Path, Text)), "");
  probe::Plan Plan;
  EXPECT_TRUE(Plan.read(Path.c_str())) << Text;
  return Plan;
}

/// The sample job with choices that plan both kernels.
struct Planned {
  TuningJob Job = sampleJob();
  JobBuild Built = sampleBuild(Job);
  std::vector<ModeChoice> Choices{2};

  Planned() {
    addVariant(Built.Kernels[1], 48);
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

TEST(ProbePlan, plan_readByTheProbe_isTheSame) {
  Planned P;
  probe::Plan Plan = readBack(printPlan(P.Job, P.Built, P.Choices, {}, {77, 60'000, 9'000}));
  EXPECT_EQ(Plan.Seed, 77u);
  EXPECT_EQ(Plan.ReplayMs, 60'000u);
  EXPECT_EQ(Plan.HangMs, 9'000u);
  ASSERT_EQ(Plan.Kernels.size(), 2u);
  const probe::PlannedKernel *K = Plan.find("_Z2avPf");
  ASSERT_TRUE(K);
  EXPECT_EQ(K->Mode, TimingMode::Replay);
  EXPECT_TRUE(K->MayRotate);
  const std::vector<JobVariant> &Variants = P.Built.Kernels[0].Variants;
  EXPECT_EQ(variantsOf(*K), (std::vector<std::string>{
                                "default _Z2avPf", "control " + Variants[1].CloneName,
                                "r32 " + Variants[2].CloneName, "r64 " + Variants[3].CloneName}));
  ASSERT_EQ(K->Shapes.size(), 2u);
  LaunchShape Shape{{10, 20, 30}, {256, 2, 1}, 4096, {2, 1, 1}};
  const PlannedShape *S = K->find(Shape);
  ASSERT_TRUE(S);
  EXPECT_EQ(S->Launches, 12u);
  EXPECT_EQ(S->MeanNs, 333333u);
  EXPECT_TRUE(K->Excluded.empty());
  K = Plan.find("init");
  ASSERT_TRUE(K);
  EXPECT_EQ(K->Mode, TimingMode::VerifyRotate);
  EXPECT_FALSE(K->MayRotate);
}

TEST(ProbePlan, typicalLaunches_areReplayed) {
  Planned P;
  TimedShape &S = P.Choices[0].Shapes[0];
  const LaunchShape Shape = S.Shape;
  S.Typical = TypicalLaunches{"_Z2avPf", Shape, 4, 7, 900'000};
  probe::Plan Plan = readBack(printPlan(P.Job, P.Built, P.Choices, {}, {}));
  const PlannedShape *Read = Plan.find("_Z2avPf")->find(Shape);
  ASSERT_TRUE(Read);
  EXPECT_EQ(Read->firstReplayed(), 4u);
  EXPECT_EQ(Read->secondReplayed(), 7u);
  EXPECT_EQ(Read->MeanNs, 900'000u);
  EXPECT_TRUE(Read->isTimedTwice());
  S.Typical->Second = 4;
  Plan = readBack(printPlan(P.Job, P.Built, P.Choices, {}, {}));
  EXPECT_FALSE(Plan.find("_Z2avPf")->find(Shape)->isTimedTwice()) << "there is one only";
  // Where nothing is replayed, the plan names no launches.
  P.Choices[0].Mode = TimingMode::Rotate;
  Plan = readBack(printPlan(P.Job, P.Built, P.Choices, {}, {}));
  EXPECT_EQ(Plan.find("_Z2avPf")->find(Shape)->firstReplayed(), 0u);
}

/// The probe counts the launches of the shapes that it replays, so it gets their own numbers.
TEST(ProbePlan, representative_isPlannedWithItsOwnLaunches) {
  Planned P;
  TimedShape Representative = P.Choices[0].Shapes[0];
  Representative.StandsFor = {P.Choices[0].Shapes[1].Shape};
  Representative.StandsForNs = 9e9;
  P.Choices[0].Shapes = {Representative};
  probe::Plan Plan = readBack(printPlan(P.Job, P.Built, P.Choices, {}, {}));
  const std::vector<PlannedShape> &Shapes = Plan.find("_Z2avPf")->Shapes;
  ASSERT_EQ(Shapes.size(), 1u);
  EXPECT_EQ(Shapes[0].Shape, Representative.Shape);
  EXPECT_EQ(Shapes[0].Launches, 12u);
  EXPECT_EQ(Shapes[0].MeanNs, 333333u);
}

/// A kernel whose launches of one shape are of two classes, with the keys 7 and 8.
static TracedKernel dividedKernel(const std::string &Name) {
  TracedKernel K;
  K.Kernel = Name;
  K.Shapes = {launches(Name, 256, 45'000'000)};
  K.Shapes[0].Launches = 2000;
  K.Classes = {{Name, K.Shapes[0].Shape, 7, 1000, 35'000'000},
               {Name, K.Shapes[0].Shape, 8, 1000, 10'000'000}};
  return K;
}

/// A kernel whose launches of one shape have less and less to do.
static TracedKernel segmentedKernel(const std::string &Name) {
  TracedKernel K;
  K.Kernel = Name;
  K.Shapes = {launches(Name, 256, 4'000'000)};
  K.Shapes[0].Launches = 100;
  K.Segments = {{Name, K.Shapes[0].Shape, 0, 40, 3'000'000, 20, 75'000},
                {Name, K.Shapes[0].Shape, 40, 60, 1'000'000, 55, 18'000}};
  return K;
}

TEST(ProbePlan, segments_arePlannedByTheOrderOfLaunches) {
  Planned P;
  P.Job.Kernels[0].Traced = segmentedKernel("_Z2avPf");
  P.Choices[0].Shapes = segmentedShapes(P.Job.Kernels[0].Traced);
  probe::Plan Plan = readBack(printPlan(P.Job, P.Built, P.Choices, {}, {}));
  const probe::PlannedKernel &K = *Plan.find("_Z2avPf");
  const LaunchShape Shape = P.Job.Kernels[0].Traced.Shapes[0].Shape;
  EXPECT_TRUE(K.isDivided(Shape));
  ASSERT_TRUE(K.hasSegments(Shape));
  EXPECT_FALSE(K.find(Shape));
  EXPECT_EQ(K.inSegment(Shape, 0).Class, 1u);
  EXPECT_EQ(K.inSegment(Shape, 39).Class, 1u);
  EXPECT_EQ(K.inSegment(Shape, 40).Class, 2u);
  EXPECT_EQ(K.inSegment(Shape, 1000).Class, 2u) << "more launches than were traced";
  const PlannedShape *Last = K.find(K.inSegment(Shape, 40));
  ASSERT_TRUE(Last);
  EXPECT_EQ(Last->Launches, 60u);
  EXPECT_EQ(Last->MeanNs, 18'000u) << "what the launch takes that is replayed";
  EXPECT_EQ(Last->firstReplayed(), 15u);
  EXPECT_FALSE(Last->isTimedTwice());
  // Whoever times all launches of the shape together needs no segments.
  P.Choices[0].Shapes = timedShapes(P.Job.Kernels[0].Traced);
  Plan = readBack(printPlan(P.Job, P.Built, P.Choices, {}, {}));
  EXPECT_FALSE(Plan.find("_Z2avPf")->hasSegments(Shape));
}

TEST(ProbePlan, dividedShape_isPlannedByClasses) {
  Planned P;
  P.Job.Kernels[0].Traced = dividedKernel("_Z2avPf");
  P.Choices[0].Shapes = timedShapes(P.Job.Kernels[0].Traced);
  probe::Plan Plan = readBack(printPlan(P.Job, P.Built, P.Choices, {}, {}));
  const probe::PlannedKernel &K = *Plan.find("_Z2avPf");
  LaunchShape Shape = P.Job.Kernels[0].Traced.Shapes[0].Shape;
  EXPECT_TRUE(K.isDivided(Shape));
  EXPECT_FALSE(K.find(Shape));
  ASSERT_TRUE(K.find(K.inClass(Shape, 7)));
  EXPECT_EQ(K.find(K.inClass(Shape, 7))->MeanNs, 35'000u);
  ASSERT_TRUE(K.find(K.inClass(Shape, 8)));
  EXPECT_EQ(K.find(K.inClass(Shape, 8))->Launches, 1000u);
  EXPECT_FALSE(K.find(K.inClass(Shape, 9))) << "such arguments were not traced";
  // Whoever times all launches of the shape together needs no classes.
  P.Choices[0].Shapes = launchedShapes(P.Job.Kernels[0].Traced);
  Plan = readBack(printPlan(P.Job, P.Built, P.Choices, {}, {}));
  EXPECT_FALSE(Plan.find("_Z2avPf")->isDivided(Shape));
  EXPECT_TRUE(Plan.find("_Z2avPf")->find(Shape));
}

TEST(ProbePlan, otherKeys_areOfTheClassOfTheRest) {
  Planned P;
  TracedKernel &Traced = P.Job.Kernels[0].Traced;
  Traced = dividedKernel("_Z2avPf");
  Traced.Shapes[0].Launches += 500;
  Traced.Shapes[0].TotalNs += 10'000'000;
  P.Choices[0].Shapes = timedShapes(Traced);
  probe::Plan Plan = readBack(printPlan(P.Job, P.Built, P.Choices, {}, {}));
  const probe::PlannedKernel &K = *Plan.find("_Z2avPf");
  const PlannedShape *Rest = K.find(K.inClass(Traced.Shapes[0].Shape, 9));
  ASSERT_TRUE(Rest);
  EXPECT_EQ(Rest->MeanNs, 20'000u);
  EXPECT_EQ(Rest, K.find(K.inClass(Traced.Shapes[0].Shape, 0))) << "arguments that are not read";
}

TEST(ProbePlan, launches_severalProcesses_areThoseOfOne) {
  Planned P;
  probe::Plan Plan = readBack(printPlan(P.Job, P.Built, P.Choices, {}, {}));
  EXPECT_EQ(Plan.find("_Z2avPf")->Shapes[1].Launches, 4u); // There are 9 in two processes.
  EXPECT_EQ(Plan.find("init")->Shapes[0].Launches, 1u);
}

TEST(ProbePlan, modes_areWrittenAsWords) {
  Planned P;
  for (auto [Mode, Word] :
       {std::pair{TimingMode::Rotate, "rotate"}, std::pair{TimingMode::Replay, "replay"},
        std::pair{TimingMode::VerifyRotate, "verify-rotate"}}) {
    P.Choices[0].Mode = Mode;
    std::string Text = printPlan(P.Job, P.Built, P.Choices, {}, {});
    EXPECT_NE(Text.find(std::string("kernel\t_Z2avPf\t") + Word + "\t"), std::string::npos) << Text;
    EXPECT_EQ(readBack(Text).find("_Z2avPf")->Mode, Mode);
  }
  P.Choices[0].Mode = TimingMode::Fixed;
  EXPECT_FALSE(readBack(printPlan(P.Job, P.Built, P.Choices, {}, {})).find("_Z2avPf"));
}

TEST(ProbePlan, variant_withAFault_isExcluded) {
  Planned P;
  auto Plan = [&](std::vector<VariantFault> Faults) {
    return readBack(printPlan(P.Job, P.Built, P.Choices, Faults, {}));
  };
  EXPECT_EQ(
      Plan({{"_Z2avPf", "r32", "hung"}, {"_Z2avPf", "r32", "hung"}}).find("_Z2avPf")->Excluded,
      std::set<size_t>{2});
  // Nothing is left to try for this kernel.
  probe::Plan None = Plan({{"_Z2avPf", "r32", "hung"}, {"_Z2avPf", "r64", "hung"}});
  EXPECT_FALSE(None.find("_Z2avPf"));
  EXPECT_TRUE(None.find("init"));
  // The kernel cannot even be replayed with its default.
  EXPECT_FALSE(Plan({{"_Z2avPf", "default", "hung"}}).find("_Z2avPf"));
}

/// A round times only some of the job's variants.
TEST(ProbePlan, plan_hasOnlyVariantsInTheModule) {
  Planned P;
  KernelBuild &K = P.Built.Kernels[0]; // r32, r64
  addVariant(K, 48);
  K.Variants[2].InModule = false;
  probe::Plan Plan = readBack(printPlan(
      P.Job, P.Built, P.Choices, {{"_Z2avPf", "r48", "hung"}, {"_Z2avPf", "r32", "hung"}}, {}));
  const probe::PlannedKernel *Read = Plan.find("_Z2avPf");
  ASSERT_TRUE(Read);
  EXPECT_EQ(variantsOf(*Read),
            (std::vector<std::string>{"default _Z2avPf", "control " + K.Variants[1].CloneName,
                                      "r64 " + K.Variants[3].CloneName,
                                      "r48 " + K.Variants[4].CloneName}));
  EXPECT_EQ(Read->Excluded, std::set<size_t>{3}) << "r32 is not there at all";
}

TEST(ProbePlan, keepPlanned_oldRecord_keepsVariantsInTheModule) {
  Planned P;
  KernelBuild &K = P.Built.Kernels[0];
  K.Variants[2].InModule = false;
  InRunRecord Record;
  LaunchPlace Place{"_Z2avPf", {}, 0};
  Record.Timed = {{Place, true, 0, "default", 1, 1},
                  {Place, true, 0, "r64", 2, 2},
                  {Place, true, 0, "r32", 2, 2},
                  {Place, true, 0, "r99", 3, 3}};
  Record.Verified = {{Place, "r32", Verdict::Equal, ""}, {Place, "control", Verdict::Equal, ""}};
  Record.Rotated = {{"gone", {}, 0, "r64", 5}, {"init", {}, 0, "control", 6}};
  Record.Faults = {{"_Z2avPf", "r64", "hung"}, {"gone", "r64", "hung"}};
  keepPlanned(Record, P.Job, P.Built);
  ASSERT_EQ(Record.Timed.size(), 2u);
  EXPECT_EQ(Record.Timed[0].Variant, "default");
  EXPECT_EQ(Record.Timed[1].Variant, "r64");
  ASSERT_EQ(Record.Verified.size(), 1u);
  EXPECT_EQ(Record.Verified[0].Variant, "control");
  ASSERT_EQ(Record.Rotated.size(), 1u);
  EXPECT_EQ(Record.Rotated[0].Ns, 6);
  ASSERT_EQ(Record.Faults.size(), 1u);
  EXPECT_EQ(Record.Faults[0].Kernel, "_Z2avPf");
}

TEST(ProbePlan, variant_onlyTimed_isReplayedOrLeftOut) {
  Planned P;
  P.Built.Kernels[0].Variants[2].InModule = false;
  P.Built.Kernels[0].Variants[3].OnlyTimed = true;
  P.Built.Kernels[0].Variants[3].Purpose = "memory-only";
  EXPECT_FALSE(readBack(printPlan(P.Job, P.Built, P.Choices, {}, {})).find("_Z2avPf"))
      << "where it cannot be replayed it would be rotated";
  addVariant(P.Built.Kernels[0], 40);
  P.Choices[0].MayRotate = false;
  const probe::Plan Plan = readBack(printPlan(P.Job, P.Built, P.Choices, {}, {}));
  ASSERT_TRUE(Plan.find("_Z2avPf"));
  EXPECT_EQ(Plan.find("_Z2avPf")->Measured, (std::set<size_t>{2}));
  EXPECT_EQ(variantsOf(*Plan.find("_Z2avPf")).at(2),
            "memory-only " + P.Built.Kernels[0].Variants[3].CloneName);
  EXPECT_TRUE(Plan.find("init")->Measured.empty());
  P.Choices[0].Mode = TimingMode::VerifyRotate;
  EXPECT_FALSE(readBack(printPlan(P.Job, P.Built, P.Choices, {}, {})).find("_Z2avPf"));
}

TEST(ProbePlan, variantThatMayMoveLastBits_isToBeCompared) {
  Planned P;
  EXPECT_TRUE(
      readBack(printPlan(P.Job, P.Built, P.Choices, {}, {})).find("_Z2avPf")->ToCompare.empty());
  P.Built.Kernels[0].Variants[3].Setting.FrontEnd = FrontEndKnob::UnrollByTwo;
  for (TimingMode Mode : {TimingMode::Rotate, TimingMode::Replay, TimingMode::VerifyRotate}) {
    P.Choices[0].Mode = Mode;
    const probe::Plan Plan = readBack(printPlan(P.Job, P.Built, P.Choices, {}, {}));
    EXPECT_EQ(Plan.find("_Z2avPf")->ToCompare, (std::set<size_t>{3}));
    EXPECT_TRUE(Plan.find("init")->ToCompare.empty());
  }
}

/// Makes variant number \p Variant of the first kernel one with a code for each of \p Known.
static void guardVariant(Planned &P, size_t Variant, const std::vector<KnownLaunch> &Known) {
  JobVariant &V = P.Built.Kernels[0].Variants[Variant];
  for (size_t I = 0; I < Known.size(); ++I)
    V.Codes.push_back({Known[I], V.Setting, V.CloneName + "_" + std::to_string(I + 1), {}, ""});
}

TEST(ProbePlan, variantForKnownLaunches_isGuarded) {
  Planned P;
  guardVariant(P, 2, {{{{1, 4, 4096}, {2, 1, 1}}, {}, {{7, 1, 1}}}});
  probe::Plan Plan = readBack(printPlan(P.Job, P.Built, P.Choices, {}, {}));
  const probe::PlannedKernel &K = *Plan.find("_Z2avPf");
  EXPECT_EQ(K.Variants[1].Guard, 0u);
  EXPECT_EQ(K.Variants[2].Guard, 1u);
  EXPECT_EQ(K.Variants[3].Guard, 0u);
  ASSERT_EQ(K.Guards.size(), 1u);
  const probe::PlannedKernel::Guard &Guard = K.Guards.at(1);
  ASSERT_EQ(Guard.Values.size(), 2u);
  EXPECT_EQ(Guard.Values[0].Parameter, 1u);
  EXPECT_EQ(Guard.Values[0].Bytes, 4u);
  EXPECT_EQ(Guard.Values[0].Bits, 4096u);
  EXPECT_TRUE(Guard.allows({{7, 1, 1}, {64, 1, 1}}));
  EXPECT_FALSE(Guard.allows({{8, 1, 1}, {64, 1, 1}}));
  EXPECT_TRUE(Plan.find("init")->Guards.empty());
}

TEST(ProbePlan, variantWithSeveralCodes_hasOneNameAndAGuardForEach) {
  Planned P;
  const KnownLaunch Small{{{1, 4, 256}}, {}, {}}, Large{{{1, 4, 512}}, {{64, 1, 1}}, {}};
  guardVariant(P, 2, {Small, Large});
  guardVariant(P, 3, {Large});
  probe::Plan Plan =
      readBack(printPlan(P.Job, P.Built, P.Choices, {{"_Z2avPf", "r64", "hung"}}, {}));
  const probe::PlannedKernel &K = *Plan.find("_Z2avPf");
  ASSERT_EQ(K.Variants.size(), 5u);
  for (size_t V : {2, 3})
    EXPECT_EQ(K.Variants[V].Name + " " + K.Variants[V].Clone,
              "r32 " + P.Built.Kernels[0].Variants[2].Codes[V - 2].CloneName);
  EXPECT_EQ(K.Variants[4].Name, "r64");
  EXPECT_EQ(K.Variants[3].Guard, K.Variants[4].Guard) << "they rely on the same";
  EXPECT_EQ(K.Guards.size(), 2u);
  EXPECT_EQ(K.Guards.at(K.Variants[2].Guard).Values.at(0).Bits, 256u);
  EXPECT_EQ(K.Excluded, std::set<size_t>{4});
}

/// Codes for launch shapes need no values. One for a block alone is for all its grids.
TEST(ProbePlan, composedVariant_isGuardedByBlockAndGrid) {
  Planned P;
  P.Built.Kernels[0].Variants[2].Composed = "r32+r64+default";
  guardVariant(P, 2, {{{}, {{64, 1, 1}}, {{7, 1, 1}}}, {{}, {{64, 1, 1}}, {}}});
  probe::Plan Plan = readBack(printPlan(P.Job, P.Built, P.Choices, {}, {}));
  const probe::PlannedKernel &K = *Plan.find("_Z2avPf");
  ASSERT_EQ(K.Guards.size(), 2u);
  for (size_t V : {2, 3})
    EXPECT_EQ(K.Variants[V].Name, "r32+r64+default");
  const probe::PlannedKernel::Guard &OfGrid = K.Guards.at(K.Variants[2].Guard);
  const probe::PlannedKernel::Guard &OfBlock = K.Guards.at(K.Variants[3].Guard);
  EXPECT_TRUE(OfGrid.allows({{7, 1, 1}, {64, 1, 1}}) && OfBlock.allows({{7, 1, 1}, {64, 1, 1}}));
  EXPECT_TRUE(!OfGrid.allows({{8, 1, 1}, {64, 1, 1}}) && OfBlock.allows({{8, 1, 1}, {64, 1, 1}}));
  EXPECT_FALSE(OfBlock.allows({{7, 1, 1}, {32, 1, 1}}));
  EXPECT_TRUE(OfGrid.Values.empty() && OfBlock.Values.empty());
}

TEST(ProbePlan, variantWithConstants_isGuardedByWhatItsPtxReads) {
  Planned P;
  P.Built.Kernels[0].Variants[2].Setting.KnownPtx = true;
  guardVariant(P, 2, {{{{0, 4, 4096, 8}, {2, 1, 1}}, {}, {}}});
  probe::Plan Plan = readBack(printPlan(P.Job, P.Built, P.Choices, {}, {}));
  const probe::PlannedKernel &K = *Plan.find("_Z2avPf");
  EXPECT_EQ(K.Variants[2].Guard, 1u);
  ASSERT_EQ(K.Guards.size(), 1u);
  const std::vector<GuardRecord> &Values = K.Guards.at(1).Values;
  ASSERT_EQ(Values.size(), 2u);
  EXPECT_EQ(Values[0].Offset, 8u);
  EXPECT_EQ(Values[0].Bits, 4096u);
  EXPECT_EQ(Values[1].Parameter, 2u);
  EXPECT_EQ(Values[1].Offset, 0u);
}

TEST(ProbePlan, variantWithRestrictPointers_isGuardedByTheirPlaces) {
  Planned P;
  P.Built.Kernels[0].Variants[2].Setting.Restrict = true;
  guardVariant(P, 2, {{.Apart = {{0, 0}, {2, 8}}}});
  probe::Plan Plan = readBack(printPlan(P.Job, P.Built, P.Choices, {}, {}));
  const probe::PlannedKernel &K = *Plan.find("_Z2avPf");
  EXPECT_EQ(K.Variants[2].Guard, 1u);
  ASSERT_EQ(K.Guards.size(), 1u);
  const std::vector<GuardedPointer> &Apart = K.Guards.at(1).Apart;
  ASSERT_EQ(Apart.size(), 2u);
  EXPECT_EQ(Apart[1].Parameter, 2u);
  EXPECT_EQ(Apart[1].Offset, 8u);
  EXPECT_EQ(K.ToCompare.count(2), 1u) << "its output has to be compared";
}

TEST(ProbePlan, wholeRunWithAKnownLaunch_isDispatchedByTheProbe) {
  Planned P;
  guardVariant(P, 2, {{{{1, 4, 4096}}, {}, {}}, {{{1, 4, 8192}}, {}, {}}});
  for (const Assignment &A : {Assignment{}, Assignment{0, 0}, Assignment{1, 1}, Assignment{3, 2}})
    EXPECT_EQ(printDispatchPlan(P.Job, P.Built, A), "");
  probe::Plan Plan = readBack(printDispatchPlan(P.Job, P.Built, {2, 2}));
  ASSERT_EQ(Plan.Kernels.size(), 1u);
  const probe::PlannedKernel &K = *Plan.find("_Z2avPf");
  EXPECT_EQ(K.Mode, TimingMode::Dispatch);
  ASSERT_EQ(K.Variants.size(), 4u);
  EXPECT_EQ(K.Variants[2].Clone, P.Built.Kernels[0].Variants[2].Codes[0].CloneName);
  EXPECT_EQ(K.Variants[3].Clone, P.Built.Kernels[0].Variants[2].Codes[1].CloneName);
  EXPECT_EQ(K.Guards.size(), 2u);
  for (const KernelLaunches &L : P.Job.Kernels[0].Traced.Shapes)
    EXPECT_TRUE(K.find(L.Shape));
}

TEST(JobImages, variant_onlyTimed_isNeverPlaced) {
  TuningJob Job = sampleJob();
  JobBuild Built = sampleBuild(Job);
  Built.Modules[0].Cubin = "anything";
  Built.Kernels[0].Variants[2].OnlyTimed = true;
  TempDir Dir = llvm::cantFail(TempDir::create("carve-images-test"));
  EXPECT_EQ(messageOf(placeImages(Job, Built, TuningScope::Kernel, {2, 0}, Dir.path())),
            "_Z2avPf__carve_r32 computes something else than its kernel");
}
