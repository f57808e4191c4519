#include "Tune/Job/JobParts.h"
#include "Tune/Job/KnownLaunches.h"

#include "unit/Tune/TuneTesting.h"

#include "llvm/ADT/StringExtras.h"

#include "llvm/Support/FileSystem.h"

using namespace carve;
using Caps = std::vector<unsigned>;

namespace {

/// Units of the recorded module, in a store of the test.
class PlaceKernelsTest : public testing::Test {
protected:
  PlaceKernelsTest()
      : Dir(llvm::cantFail(TempDir::create("carve-store"))), Store(Dir.path() + "/store") {
    Job.Kernels.clear();
    Job.Modules.clear();
    Digest = valueOf(Store.putBlob(recordedPtx("kernels.cuda-13.0.88.ptx")));
  }

  Unit unit(const std::string &Key) {
    Unit U;
    U.Key = Key;
    U.Output = Key + ".o";
    UnitImage I;
    I.Arch = "sm_90";
    I.PtxDigest = Digest;
    I.CubinDigest = "cubin";
    I.PtxasOptions = {"-arch=sm_90"};
    U.Images = {I};
    return U;
  }

  void place(std::vector<Unit> Units, std::vector<TracedKernel> Traced) {
    JobContext Context{Store, {}, Runner, Options};
    Parsed = parseModules(std::move(Units), Job, Context);
    placeKernels(std::move(Traced), Parsed, Job, Context);
  }

  /// Why the only kernel was left; empty if it was placed.
  std::string leftReason() const { return Job.Left.empty() ? "" : Job.Left.front().Reason.text(); }

  TempDir Dir;
  UnitStore Store;
  std::string Digest;
  ProbedProgram Runner;
  TuningOptions Options;
  TuningJob Job = sampleJob();
  std::vector<ParsedModule> Parsed;
};

TracedKernel traced(const std::string &Name, double Share) { return {Name, Share, 1, {}}; }

Caps caps(const JobKernel &K, const TuningJob &Job, TuningOptions Options = {},
          const EntryDirectives &Directives = {}) {
  KernelBuild Built;
  Caps Found = capsToTry(K, Directives, Job, Options, Built);
  EXPECT_GE(Built.LaunchableRegs, Found.back());
  return Found;
}

} // namespace

TEST_F(PlaceKernelsTest, kernels_inAUnit_findTheirModule) {
  place({unit("a")}, {traced("_Z2avPf", 0.6), traced("init", 0.3), traced("_Z4elsePi", 0.09),
                      traced("x_Z2avPf", 0.009)});
  ASSERT_EQ(Job.Kernels.size(), 2u);
  EXPECT_EQ(Job.Kernels[0].Traced.Kernel, "_Z2avPf");
  EXPECT_NE(Job.Kernels[0].KernelDigest, "");
  EXPECT_NE(Job.Kernels[0].KernelDigest, Job.Kernels[1].KernelDigest);
  ASSERT_EQ(Job.Modules.size(), 1u);
  EXPECT_EQ(Job.Modules[0].Kernels, (std::vector<size_t>{0, 1}));
  ASSERT_EQ(Job.Left.size(), 2u);
  EXPECT_EQ(Job.Left[0].Reason.text(), "in-no-unit");
  EXPECT_EQ(Job.Left[1].Reason.text(), "below-share");
}

TEST_F(PlaceKernelsTest, kernelsOfAnotherShard_areLeft) {
  Options.OnlyKernels = {"_Z4elsePi", "_Z2avPf"};
  place({unit("a")}, {traced("_Z2avPf", 0.6), traced("init", 0.3), traced("_Z4elsePi", 0.0001)});
  ASSERT_EQ(Job.Kernels.size(), 1u);
  EXPECT_EQ(Job.Kernels[0].Traced.Kernel, "_Z2avPf");
  ASSERT_EQ(Job.Left.size(), 2u);
  EXPECT_EQ(Job.Left[0].Reason.text(), "other-shard");
  EXPECT_EQ(Job.Left[1].Reason.text(), "below-share");
}

TEST_F(PlaceKernelsTest, hazards_ofPlacedKernels_areKept) {
  place({unit("a")}, {traced("_Z2avPf", 1)});
  EXPECT_FALSE(Job.DeviceHeap);
  Job.Kernels.clear();
  Unit Other = unit("b");
  Other.Images[0].PtxDigest =
      valueOf(Store.putBlob(".version 9.0\n.target sm_90\n.address_size 64\n"
                            ".extern .func (.param .b64 r) malloc(.param .b64 a);\n"
                            ".visible .entry fences() { membar.sys; ret; }\n"
                            ".visible .entry allocates() { call.uni (r), malloc, (a); ret; }\n"));
  place({Other}, {traced("fences", 0.6)});
  ASSERT_EQ(Job.Kernels.size(), 1u);
  EXPECT_TRUE(Job.Kernels[0].Hazards.SystemScope);
  EXPECT_FALSE(Job.Kernels[0].Hazards.DeviceHeap);
  EXPECT_TRUE(Job.DeviceHeap); // A kernel that was not launched counts, too.
}

TEST_F(PlaceKernelsTest, units_sameCode_areTwins) {
  place({unit("a"), unit("b")}, {traced("_Z2avPf", 1)});
  ASSERT_EQ(Job.Modules.size(), 1u);
  ASSERT_EQ(Job.Modules[0].Twins.size(), 1u);
  EXPECT_EQ(Job.Modules[0].Twins[0].Key, "b");
}

TEST_F(PlaceKernelsTest, units_otherOptions_areAnotherModule) {
  Unit Other = unit("b");
  Other.Images[0].PtxasOptions.push_back("-O1");
  place({unit("a"), Other}, {traced("_Z2avPf", 1)});
  EXPECT_EQ(Job.Modules.size(), 2u);
  EXPECT_EQ(Job.Kernels[0].Modules, (std::vector<size_t>{0, 1}));
}

TEST_F(PlaceKernelsTest, kernel_differentCodeUnderOneName_isLeft) {
  std::string Text = recordedPtx("kernels.cuda-13.0.88.ptx");
  size_t Entry = Text.find(".entry init(");
  ASSERT_NE(Entry, std::string::npos);
  Text.insert(Text.find("ret;", Entry), "bar.sync 0;\n\t");
  Unit Other = unit("b");
  Other.Images[0].PtxDigest = valueOf(Store.putBlob(Text));
  place({unit("a"), Other}, {traced("init", 1)});
  EXPECT_EQ(leftReason(), "ambiguous-name");
}

TEST_F(PlaceKernelsTest, kernel_notTunable_isLeft) {
  place({unit("a")}, {traced("_Z9recursivePi", 1)});
  EXPECT_EQ(leftReason(), "unknown-stack");
  Job.Left.clear();
  Unit Relocatable = unit("a");
  Relocatable.Relocatable = true;
  Options.Scope = TuningScope::File;
  place({Relocatable}, {traced("init", 1)});
  EXPECT_EQ(leftReason(), "relocatable-device-code");
}

TEST_F(PlaceKernelsTest, units_unreadable_areLeftOut) {
  Unit Gone = unit("a"), Damaged = unit("b"), Foreign = unit("c");
  Gone.Images[0].PtxDigest = "0123456789abcdef0123456789abcdef";
  Damaged.Images[0].PtxDigest = valueOf(Store.putBlob("no PTX"));
  Foreign.Images[0].Arch = "sm_80";
  place({Gone, Damaged, Foreign}, {traced("init", 1)});
  EXPECT_EQ(leftReason(), "in-no-unit");
}

TEST_F(PlaceKernelsTest, whatAllLaunchesShare_isKnown) {
  const std::string Kernel = "_Z5bulkyPdi";
  Unit U = unit("a");
  U.FrontEnds.resize(1);
  U.FrontEnds[0].PtxDigest = Digest;
  U.FrontEnds[0].InputDigest =
      valueOf(Store.putBlob("__attribute__((global)) void bulky(double *p, int n) {}"));
  Options.Entries = FurtherEntries::Values;
  TracedKernel Traced = sampleKernel(Kernel, 1).Traced;
  place({U}, {Traced});
  ASSERT_EQ(Job.Kernels.size(), 1u);
  auto KnownIn = [&](const ProbeRecord &Trace) {
    Job.Kernels[0].Known = {};
    JobContext Context{Store, {}, Runner, Options};
    Context.FlavourPtx = [](auto &&...) { return std::string(); };
    findKnownLaunches(Trace, Parsed, Job, Context);
    return Job.Kernels[0].Known;
  };
  ProbeRecord Trace;
  EXPECT_TRUE(KnownIn(Trace).empty());
  Trace.Arguments[Kernel].add(ArgumentRecord{Kernel, 0, 8, 4096});
  EXPECT_TRUE(KnownIn(Trace).empty()) << "a pointer is no value, and its alignment is too little";
  Trace.Arguments[Kernel].add(ArgumentRecord{Kernel, 1, 4, 50});
  EXPECT_EQ(KnownIn(Trace), (KnownLaunch{{{0, 1, 0}, {1, 4, 50}}, {}, {}}))
      << "the kernel reads neither block nor grid";
  Job.Kernels[0].Traced.GraphLaunches = 1;
  EXPECT_TRUE(KnownIn(Trace).empty());
  Job.Kernels[0].Traced.GraphLaunches = 0;
  Options.Entries = FurtherEntries::Blocks;
  EXPECT_TRUE(KnownIn(Trace).empty());
  Options.Entries = FurtherEntries::Values;
  Trace.Arguments[Kernel].add(ArgumentRecord{Kernel, 1, 4, 51});
  EXPECT_TRUE(KnownIn(Trace).empty());
}

TEST_F(PlaceKernelsTest, pointersThatAreAlwaysApart_mayBeRestrict) {
  const std::string Kernel = "_Z1kPfPKf";
  const std::string Text = ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry " +
                           Kernel + "(.param .u64 " + Kernel + "_param_0, .param .u64 " + Kernel +
                           "_param_1) { .reg .b64 %rd<4>; .reg .f32 %f<4>; ld.param.u64 %rd1, [" +
                           Kernel + "_param_0]; ld.param.u64 %rd2, [" + Kernel +
                           "_param_1]; ld.global.f32 %f1, [%rd2]; st.global.f32 [%rd1], %f1; "
                           "bar.sync 0; st.global.f32 [%rd1+4], %f1; ret; }\n";
  Unit U = unit("a");
  U.Images[0].PtxDigest = valueOf(Store.putBlob(Text));
  U.FrontEnds.resize(1);
  U.FrontEnds[0].PtxDigest = U.Images[0].PtxDigest;
  U.FrontEnds[0].InputDigest =
      valueOf(Store.putBlob("__attribute__((global)) void k(float *p, const float *q) {}"));
  Options.Entries = FurtherEntries::Values;
  place({U}, {sampleKernel(Kernel, 1).Traced});
  ASSERT_EQ(Job.Kernels.size(), 1u);
  JobKernel &K = Job.Kernels[0];
  auto Find = [&](uint64_t MeanNs) {
    K.Apart.clear();
    K.Restrict.clear();
    for (KernelLaunches &L : K.Traced.Shapes)
      L.TotalNs = L.Launches * MeanNs;
    JobContext Context{Store, {}, Runner, Options};
    Context.FlavourPtx = [](auto &&...) { return std::string(); };
    findKnownLaunches({}, Parsed, Job, Context);
    return K.Apart;
  };
  EXPECT_TRUE(Find(1'000'000).empty()) << "the trace says nothing of addresses";
  K.Traced.Arguments.emplace();
  for (unsigned Parameter : {0, 1})
    K.Traced.Arguments->add(PointerRecord{Kernel, Parameter, 0});
  EXPECT_EQ(Find(1'000'000), (std::vector<PointerPlace>{{0, 0}, {1, 0}}));
  EXPECT_EQ(K.Restrict, (std::vector<unsigned>{1})) << "the other is written around a barrier";
  EXPECT_TRUE(Find(10'000).empty()) << "asking about two addresses takes more than 1 % of 10 us";
  K.Traced.Arguments->add(AliasRecord{Kernel, 0, 0, 1, 0});
  EXPECT_TRUE(Find(1'000'000).empty());
}

TEST_F(PlaceKernelsTest, whatThePtxReads_isKnownWithoutATextToo) {
  const std::string Kernel = "_Z1k1Sfi";
  const std::string Text = ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry " +
                           Kernel + "(.param .align 8 .b8 " + Kernel +
                           "_param_0[16], .param .f32 " + Kernel + "_param_1, .param .u32 " +
                           Kernel + "_param_2) { .reg .b32 %r<4>; .reg .f32 %f<4>; " +
                           "ld.param.u32 %r1, [" + Kernel + "_param_0+8]; ld.param.f32 %f2, [" +
                           Kernel + "_param_1]; mov.u32 %r3, %ntid.x; ret; }\n";
  Unit U = unit("a");
  U.Images[0].PtxDigest = valueOf(Store.putBlob(Text));
  TracedKernel Traced = sampleKernel(Kernel, 1).Traced;
  place({U}, {Traced});
  ASSERT_EQ(Job.Kernels.size(), 1u);
  ProbeRecord Trace;
  for (const ArgumentRecord &R : std::vector<ArgumentRecord>{{Kernel, 0, 4, 1, 0},
                                                             {Kernel, 0, 4, 2, 4},
                                                             {Kernel, 0, 4, 3, 8},
                                                             {Kernel, 0, 4, 4, 12},
                                                             {Kernel, 1, 4, 0x80000000, 0},
                                                             {Kernel, 2, 4, 5, 0}})
    Trace.Arguments[Kernel].add(R);
  auto Found = [&](FurtherEntries Entries) {
    Options.Entries = Entries;
    Job.Kernels[0].Known = Job.Kernels[0].KnownPtx = {};
    findKnownLaunches(Trace, Parsed, Job, {Store, {}, Runner, Options});
    EXPECT_TRUE(Job.Kernels[0].Known.empty()) << "there is no front end";
    return Job.Kernels[0].KnownPtx;
  };
  const std::array<unsigned, 3> Block = Traced.Shapes[0].Shape.Block;
  EXPECT_EQ(Found(FurtherEntries::Values), (KnownLaunch{{{0, 4, 3, 8}}, Block, {}}))
      << "what the kernel does not read is not known";
  EXPECT_EQ(Found(FurtherEntries::Floats),
            (KnownLaunch{{{0, 4, 3, 8}, {1, 4, 0x80000000}}, Block, {}}));
  EXPECT_TRUE(Found(FurtherEntries::Blocks).empty());
}

/// A kernel that has a number as an argument, with launches of several grids.
class KnownShapesTest : public PlaceKernelsTest {
protected:
  void SetUp() override { prepare(""); }
  /// Makes the job of the kernel with \p Added in its PTX, and no launches.
  void prepare(const std::string &Added) {
    std::string Text = recordedPtx("kernels.cuda-13.0.88.ptx");
    Text.insert(Text.find("ret;", Text.find(".entry " + Kernel)), Added);
    Digest = valueOf(Store.putBlob(Text));
    Job.Kernels.clear();
    Job.Modules.clear();
    Trace = {};
    Unit U = unit("a");
    U.FrontEnds.resize(1);
    U.FrontEnds[0].PtxDigest = Digest;
    U.FrontEnds[0].InputDigest =
        valueOf(Store.putBlob("__attribute__((global)) void bulky(double *p, int n) {}"));
    Options.Entries = FurtherEntries::Values;
    place({U}, {sampleKernel(Kernel, 1).Traced});
    ASSERT_EQ(Job.Kernels.size(), 1u);
    Job.Kernels[0].Traced.Shapes.clear();
  }
  /// Adds launches with \p Blocks blocks that take \p Ns and whose number is \p N.
  void launch(unsigned Blocks, uint64_t Ns, uint64_t N) {
    KernelLaunches L = launches(Kernel, 256, 1);
    L.Shape.Grid = {Blocks, 1, 1};
    L.TotalNs = Ns;
    Job.Kernels[0].Traced.Shapes.push_back(L);
    KernelArguments &Arguments = Trace.Arguments[Kernel];
    Arguments.add(ArgumentRecord{Kernel, 1, 4, N});
    Arguments.add(ShapeArgumentRecord{{Kernel, 1, 4, N}, L.Shape.Grid, L.Shape.Block});
  }
  /// Returns the numbers that the codes of a variant for several shapes rely on, 0 for none.
  std::vector<uint64_t> numbers() {
    JobContext Context{Store, {}, Runner, Options};
    Context.FlavourPtx = [](auto &&...) { return std::string(); };
    findKnownLaunches(Trace, Parsed, Job, Context);
    std::vector<uint64_t> Numbers;
    for (const KnownLaunch &L : Job.Kernels[0].KnownShapes) {
      Numbers.push_back(L.Values.empty() ? 0 : L.Values[0].Bits);
    }
    return Numbers;
  }
  const std::string Kernel = "_Z5bulkyPdi";
  ProbeRecord Trace;
};

TEST_F(KnownShapesTest, oneShapeOrOneNumber_isWhatAllLaunchesHave) {
  launch(10, 100, 7);
  EXPECT_EQ(numbers(), std::vector<uint64_t>());
  launch(20, 100, 7);
  EXPECT_EQ(numbers(), std::vector<uint64_t>()) << "the kernel does not read the grid";
  EXPECT_EQ(Job.Kernels[0].Known.Values, (std::vector<ArgumentValue>{{1, 4, 7}}));
}

TEST_F(KnownShapesTest, shapesWithOtherNumbers_areTakenByTime) {
  launch(10, 20, 1);
  launch(20, 50, 2);
  EXPECT_EQ(numbers(), (std::vector<uint64_t>{2, 1}));
  EXPECT_TRUE(Job.Kernels[0].Known.empty());
  launch(30, 5, 3);
  EXPECT_EQ(numbers(), (std::vector<uint64_t>{2, 1})) << "the third takes less than a tenth";
  launch(40, 15, 2);
  launch(50, 30, 5);
  launch(60, 25, 6);
  EXPECT_EQ(numbers(), (std::vector<uint64_t>{2, 5, 6})) << "three entries, two shapes in one";
}

TEST_F(KnownShapesTest, numberThatVariesInAShape_isNotKnownThere) {
  launch(10, 50, 1);
  launch(20, 50, 2);
  launch(20, 50, 3);
  EXPECT_EQ(numbers(), std::vector<uint64_t>{1});
}

TEST_F(KnownShapesTest, whatAllLaunchesHave_isLastIfItIsNeeded) {
  prepare("// %ntid.x\n\t"); // It counts as code that reads the block, which is always the same.
  launch(1, 40, 1);
  launch(2, 30, 2);
  EXPECT_EQ(numbers(), (std::vector<uint64_t>{1, 2})) << "these are all launches";
  EXPECT_FALSE(Job.Kernels[0].Known.empty());
  launch(3, 20, 3);
  launch(4, 10, 4);
  EXPECT_EQ(numbers(), (std::vector<uint64_t>{1, 2, 0}));
  EXPECT_EQ(Job.Kernels[0].KnownShapes.back(), Job.Kernels[0].Known);
}

TEST_F(KnownShapesTest, entriesForValues_ifNotWanted_areNone) {
  launch(1, 40, 1);
  launch(2, 30, 2);
  Options.Entries = FurtherEntries::Blocks;
  EXPECT_EQ(numbers(), std::vector<uint64_t>());
  Options.Entries = FurtherEntries::Values;
  Job.Kernels[0].Traced.GraphLaunches = 1;
  EXPECT_EQ(numbers(), std::vector<uint64_t>());
}

TEST(CapsToTry, caps_severalShapes_areTheCriticalPointsOfEach) {
  TuningJob Job = sampleJob();
  JobKernel K = sampleKernel("k", 1);
  // 24 to 72 registers at 256 threads on sm_90: 72:3, 64:4, 48:5, 40:6, 32:8.
  KernelBuild Built;
  EXPECT_EQ(capsToTry(K, {}, Job, {}, Built), (Caps{32, 40, 48, 64}));
  EXPECT_EQ(Built.LaunchableRegs, 64u);
  EXPECT_EQ(Built.Dropped, std::vector<std::string>{"r72: largest block would shrink"});
  K.Traced.Shapes.push_back(launches("k", 1024, 5));
  EXPECT_EQ(caps(K, Job), (Caps{32, 40, 48, 64})); // 1024 threads step at 64 and 32 only.
}

TEST(CapsToTry, caps_byDomain_keepTheLargestBlockOrTheLargestTraced) {
  TuningJob Job = sampleJob();
  JobKernel K = sampleKernel("k", 1);
  K.Region.AtMax.RegsPerThread = 168;
  TuningOptions Traced;
  Traced.Domain = LaunchDomain::Traced;
  EXPECT_EQ(caps(K, Job).back(), 64u); // 1024 threads fit with 64 registers.
  EXPECT_EQ(caps(K, Job, Traced).back(), 168u);
  EntryDirectives Bounds;
  Bounds.MaxNTid = {512, 1, 1};
  EXPECT_EQ(caps(K, Job, {}, Bounds).back(), 128u);
  // A default of 100 registers accepts no more than 512 threads anyway.
  K.Region.Default.RegsPerThread = 100;
  EXPECT_EQ(caps(K, Job).back(), 128u);
}

TEST(CapsToTry, furtherEntries_mayHaveWhatTheTracedBlocksAllow) {
  TuningJob Job = sampleJob();
  JobKernel K = sampleKernel("k", 1);
  K.Modules = {0};
  K.Region.AtMax.RegsPerThread = 168;
  TuningOptions Options;
  Options.Entries = FurtherEntries::Blocks;
  KernelBuild Built;
  EXPECT_EQ(capsToTry(K, {}, Job, Options, Built).back(), 168u);
  EXPECT_EQ(Built.FirstEntryRegs, 64u);
  EXPECT_EQ(Built.LaunchableRegs, 255u) << "256 threads can be launched with all registers";
  EXPECT_TRUE(Built.Dropped.empty());
  auto Changed = [&](auto Change) {
    JobKernel Other = K;
    TuningJob In = Job;
    TuningOptions With = Options;
    Change(Other, In, With);
    EXPECT_FALSE(mayHaveFurtherEntry(Other, In, With));
    return capsToTry(Other, {}, In, With, Built).back();
  };
  EXPECT_TRUE(mayHaveFurtherEntry(K, Job, Options));
  EXPECT_EQ(Changed([](auto &, auto &, auto &O) { O.Entries = FurtherEntries::Off; }), 64u);
  EXPECT_EQ(Changed([](auto &, auto &, auto &O) { O.Scope = TuningScope::File; }), 64u);
  EXPECT_EQ(Changed([](auto &Of, auto &, auto &) { Of.Hazards.SpinWait = true; }), 64u);
  EXPECT_EQ(Changed([](auto &Of, auto &, auto &) { Of.Traced.GraphLaunches = 1; }), 64u);
  EXPECT_EQ(Changed([](auto &Of, auto &, auto &) { Of.Traced.Shapes[0].Cooperative = true; }), 64u);
  EXPECT_EQ(Changed([](auto &, auto &In, auto &) { In.Modules[0].Source.Relocatable = true; }),
            64u);
  EXPECT_EQ(
      Changed([](auto &Of, auto &, auto &) { Of.Traced.Shapes[0].Shape.DynamicSmemBytes = 49153; }),
      64u)
      << "such a launch needs an attribute, which the entry has not";
}

TEST(Guard, variant_knownLaunchOrManyRegisters_needsOne) {
  TuningJob Job = sampleJob();
  KnownLaunch Known = {{{1, 4, 4096}}, {}, {{7, 1, 1}}};
  KernelBuild Built;
  Built.FirstEntryRegs = 64;
  JobVariant V;
  V.Resources.RegsPerThread = 64;
  EXPECT_FALSE(needsGuard(V, Built));
  V.Resources.RegsPerThread = 128;
  EXPECT_TRUE(needsGuard(V, Built));
  auto Guards = [&] {
    std::vector<std::string> Texts;
    for (const FurtherEntry &E : furtherEntriesOf(V, Job))
      Texts.push_back(guardText(E.When));
    return llvm::join(Texts, "; ");
  };
  EXPECT_EQ(Guards(), "threads <= 512");
  V.Setting.FrontEnd = FrontEndKnob::KnownLaunch;
  V.Codes = {{Known, V.Setting, "k__known", V.Resources, "digest"}};
  EXPECT_EQ(Guards(), "threads <= 512, grid 7x1x1, parameter 1 = 4096");
  V.Codes[0].Resources.RegsPerThread = V.Resources.RegsPerThread = 40;
  EXPECT_TRUE(needsGuard(V, Built));
  EXPECT_EQ(Guards(), "grid 7x1x1, parameter 1 = 4096");
  V.Codes[0].Launch.Block = {{32, 2, 1}};
  EXPECT_EQ(Guards(), "block 32x2x1, grid 7x1x1, parameter 1 = 4096");
  V.Codes.push_back({{{{1, 4, 8}}, {}, {}}, V.Setting, "k__known_2", {}, "other"});
  V.Codes[1].Resources.RegsPerThread = 128;
  EXPECT_EQ(Guards(), "block 32x2x1, grid 7x1x1, parameter 1 = 4096; "
                      "threads <= 512, parameter 1 = 8");
  EXPECT_EQ(furtherEntriesOf(V, Job)[1].CodeDigest, "other");
  V.Setting = {.KnownPtx = true};
  V.Codes = {{{{{0, 4, 9, 8}, {1, 1, 0}, {2, 2, 3}}, {}, {}}, V.Setting, "k", V.Resources, ""}};
  EXPECT_TRUE(needsGuard(V, Built));
  EXPECT_EQ(Guards(), "bytes 8 to 11 of parameter 0 = 9, lowest byte of parameter 1 = 0, "
                      "lowest 2 bytes of parameter 2 = 3");
}

TEST(Forbidden, oneOfSeveralCodes_forbidsTheVariant) {
  TuningJob Job = sampleJob();
  KernelBuild Built = sampleBuild(Job).Kernels[0];
  JobVariant V = Built.Variants[2];
  V.Codes = {{{}, V.Setting, "a", V.Resources, ""}, {{}, V.Setting, "b", V.Resources, ""}};
  EXPECT_EQ(forbidden(Job.Kernels[0], Built, V, Job), std::nullopt);
  V.Codes[1].Resources.StackUnknown = true;
  EXPECT_EQ(forbidden(Job.Kernels[0], Built, V, Job), "stack of unknown size");
}

TEST(CapsToTry, caps_aboveTheLimit_becomeTheLimit) {
  TuningJob Job = sampleJob();
  JobKernel K = sampleKernel("k", 1);
  K.Region.AtMin.RegsPerThread = K.Region.Default.RegsPerThread = 50;
  K.Region.AtMax.RegsPerThread = 255;
  KernelBuild Built;
  EXPECT_EQ(capsToTry(K, {}, Job, {}, Built), Caps{64});
  EXPECT_GT(Built.Dropped.size(), 1u);
}

TEST(CapsToTry, caps_everyEight_areMultiplesOfEightInTheRegion) {
  TuningJob Job = sampleJob();
  JobKernel K = sampleKernel("k", 1);
  K.Region.AtMin.RegsPerThread = 26;
  K.Region.AtMax.RegsPerThread = 58;
  TuningOptions Options;
  Options.Points = PointSet::EveryEight;
  EXPECT_EQ(caps(K, Job, Options), (Caps{32, 40, 48, 56, 58}));
}

TEST(Forbidden, fewerBlocks_ordinaryLaunch_isAllowed) {
  TuningJob Job = sampleJob();
  JobKernel K = Job.Kernels[0];
  KernelBuild Built = sampleBuild(Job).Kernels[0];
  EXPECT_EQ(forbidden(K, Built, Built.Variants[2], Job), std::nullopt);
  EXPECT_EQ(forbidden(K, Built, Built.Variants[3], Job), std::nullopt);
}

TEST(Forbidden, fewerBlocks_cooperativeOrCluster_isForbidden) {
  for (bool Cooperative : {true, false}) {
    TuningJob Job = sampleJob();
    JobKernel K = Job.Kernels[0];
    KernelBuild Built = sampleBuild(Job).Kernels[0];
    K.Traced.Shapes.push_back(launches("_Z2avPf", 256, 1));
    if (Cooperative)
      K.Traced.Shapes.back().Cooperative = true;
    else
      K.Traced.Shapes.back().Shape.Cluster = {2, 1, 1};
    EXPECT_EQ(forbidden(K, Built, Built.Variants[2], Job), std::nullopt); // r32: more blocks.
    EXPECT_EQ(forbidden(K, Built, Built.Variants[3], Job),
              "fewer blocks per SM under a cooperative or cluster launch");
  }
}

TEST(Forbidden, fewerBlocks_waitInALoop_isForbidden) {
  TuningJob Job = sampleJob();
  JobKernel K = Job.Kernels[0];
  KernelBuild Built = sampleBuild(Job).Kernels[0];
  K.Hazards.SpinWait = true;
  EXPECT_EQ(forbidden(K, Built, Built.Variants[2], Job), std::nullopt); // r32: more blocks.
  EXPECT_EQ(forbidden(K, Built, Built.Variants[3], Job),
            "fewer blocks per SM, and it waits in a loop");
}

TEST(Forbidden, localMemory_moreThanOnePercent_isForbidden) {
  TuningJob Job = sampleJob();
  JobKernel K = Job.Kernels[0];
  KernelBuild Built = sampleBuild(Job).Kernels[0];
  JobVariant V = Built.Variants[2];
  // 132 SMs of 2048 threads: 1 % of 150 GB is 5548 bytes a thread.
  V.Resources.StackBytes = 5548;
  EXPECT_EQ(forbidden(K, Built, V, Job), std::nullopt);
  V.Resources.StackBytes = 5552;
  EXPECT_EQ(forbidden(K, Built, V, Job), "local memory grows by more than 1430 MB");
  Built.Default.StackBytes = 16;
  EXPECT_EQ(forbidden(K, Built, V, Job), std::nullopt);
  // On a small device, 64 MB are allowed: 248 bytes a thread.
  Job.Device.MemoryBytes = 1 << 30;
  EXPECT_EQ(forbidden(K, Built, V, Job), "local memory grows by more than 64 MB");
  V.Resources.StackBytes = 16 + 248;
  EXPECT_EQ(forbidden(K, Built, V, Job), std::nullopt);
}

TEST(Forbidden, spillingToSharedMemory_leavesRoomForDynamicMemory) {
  TuningJob Job = sampleJob();
  JobKernel K = Job.Kernels[0];
  KernelBuild Built = sampleBuild(Job).Kernels[0];
  JobVariant V = Built.Variants[2];
  V.Setting.SmemSpilling = true;
  V.Resources.StaticSmemBytes = 40 * 1024;
  EXPECT_EQ(forbidden(K, Built, V, Job), std::nullopt);
  K.Traced.Shapes[0].Shape.DynamicSmemBytes = 8 * 1024;
  EXPECT_EQ(forbidden(K, Built, V, Job), std::nullopt);
  K.Traced.Shapes[0].Shape.DynamicSmemBytes += 1;
  EXPECT_EQ(forbidden(K, Built, V, Job), "more static shared memory");
}

TEST(Forbidden, moreSharedMemoryOrUnknownStack_isForbidden) {
  TuningJob Job = sampleJob();
  JobKernel K = Job.Kernels[0];
  KernelBuild Built = sampleBuild(Job).Kernels[0];
  JobVariant Shared = Built.Variants[2], Stack = Built.Variants[2];
  Shared.Resources.StaticSmemBytes = 1024;
  Stack.Resources.StackUnknown = true;
  EXPECT_EQ(forbidden(K, Built, Shared, Job), "more static shared memory");
  EXPECT_EQ(forbidden(K, Built, Stack, Job), "stack of unknown size");
}
