#include "Search/VariantEdit.h"

#include "Support/Error.h"

#include <gtest/gtest.h>

using namespace carve;
using namespace llvm;

namespace {

PtxModule moduleOf(StringRef Statements) {
  return cantFail(PtxModule::parse((".version 9.0\n.target sm_90\n" + Statements).str()));
}

const PtxModule Base = moduleOf(".extern .func vprintf(); .extern .shared .b8 s[];\n"
                                ".global .u32 g;\n"
                                ".entry loads() { ld.global.u32 %r1, [g]; ret; }\n"
                                ".entry constants() { ld.global.nc.u32 %r1, [g]; ret; }\n"
                                ".entry prints() { call vprintf; ret; }\n"
                                ".entry shares() { mov.u32 %r1, s; ret; }\n");
const PtxModule Flavour = moduleOf(".global .u32 g;\n"
                                   ".entry loads() { ret; }\n"
                                   ".entry prints() { ld.global.u32 %r1, [g]; ret; }\n");

Expected<EntryEdit> edit(const VariantSetting &V, StringRef Entry) {
  return entryEdit(V, *Base.find(Entry), 640,
                   [](const FrontEndSetting &S) -> Expected<const PtxModule *> {
                     if (S.Cap == 32u || S.Knob == FrontEndKnob::UnrollMore)
                       return &Flavour;
                     return unsupported("no-front-end", nameOf(S));
                   });
}

std::string reasonOf(Expected<EntryEdit> Edit) {
  if (Edit)
    return "";
  Error Failed = Edit.takeError();
  EXPECT_TRUE(Failed.isA<Unsupported>());
  return StringRef(toString(std::move(Failed))).split(':').first.str();
}

VariantSetting variant(StringRef Name) { return cantFail(parseVariantName(Name)); }

using Words = std::vector<std::string>;

Words atLevel(unsigned Level, const Words &Options) {
  return ptxasOptionsFor({.RegisterUsageLevel = Level}, Options);
}

} // namespace

TEST(VariantEdit, eachSetting_becomesItsEdit) {
  EntryEdit Cap = cantFail(edit(variant("r40"), "prints"));
  EXPECT_EQ(Cap.RegisterCap, 40u);
  EXPECT_EQ(Cap.FrontEnd, nullptr);
  EXPECT_EQ(Cap.CalleeSuffix, "");
  EXPECT_EQ(Cap.SmemSpillingMaxThreads, std::nullopt);
  EXPECT_EQ(Cap.Loads, LoadCaching::AsCompiled);
  EntryEdit Level = cantFail(edit(variant("l10"), "prints"));
  EXPECT_EQ(Level.RegisterCap, std::nullopt) << "the level is not part of the PTX";
  EntryEdit FrontEnd = cantFail(edit(variant("f32"), "loads"));
  EXPECT_EQ(FrontEnd.FrontEnd, &Flavour);
  EXPECT_EQ(FrontEnd.CalleeSuffix, "__carve_f32");
  EntryEdit Unrolled = cantFail(edit(variant("unroll"), "loads"));
  EXPECT_EQ(Unrolled.FrontEnd, &Flavour);
  EXPECT_EQ(Unrolled.CalleeSuffix, "__carve_unroll");
  EXPECT_EQ(cantFail(edit(variant("f32-unroll"), "loads")).CalleeSuffix, "__carve_f32_unroll")
      << "its functions are neither those of f32 nor those of unroll";
  EntryEdit Loads = cantFail(edit(variant("cg"), "loads"));
  EXPECT_EQ(Loads.Loads, LoadCaching::L2Only);
  EXPECT_EQ(Loads.CalleeSuffix, "__carve_cg");
  EntryEdit First = cantFail(edit(variant("cs"), "loads"));
  EXPECT_EQ(First.Loads, LoadCaching::EvictFirst);
  EXPECT_EQ(First.CalleeSuffix, "__carve_cs");
  EntryEdit NoLine = cantFail(edit(variant("noalloc"), "constants"));
  EXPECT_EQ(NoLine.Loads, LoadCaching::NoAllocate);
  EXPECT_EQ(NoLine.CalleeSuffix, "__carve_noalloc");
  EntryEdit Both = cantFail(edit(variant("f32-cg"), "prints"));
  EXPECT_EQ(Both.CalleeSuffix, "__carve_f32_cg")
      << "its text differs from that of either knob alone";
  EntryEdit Smem = cantFail(edit(variant("r24-smem"), "loads"));
  EXPECT_EQ(Smem.SmemSpillingMaxThreads, 640u);
}

TEST(VariantEdit, userCapThatPtxasWouldIgnore_isKeptAsRegisterCap) {
  const PtxModule Bounded = moduleOf(".entry bounded() .maxntid 256, 1, 1 { ret; }\n"
                                     ".entry capped() .maxnreg 40 { ret; }\n");
  auto capOf = [](const PtxModule &M, StringRef Entry, StringRef Name) {
    auto None = [](const FrontEndSetting &) -> Expected<const PtxModule *> { return nullptr; };
    return cantFail(entryEdit(variant(Name), *M.find(Entry), 640, None, /*Ceiling=*/32))
        .RegisterCap;
  };
  EXPECT_EQ(capOf(Base, "loads", "smem"), 32u) << "the new .maxntid would lift it";
  EXPECT_EQ(capOf(Base, "loads", "r24-smem"), 24u);
  EXPECT_EQ(capOf(Base, "loads", "cg"), std::nullopt) << "the option holds";
  EXPECT_EQ(capOf(Bounded, "bounded", "smem"), std::nullopt) << "it never held";
  EXPECT_EQ(capOf(Bounded, "capped", "smem"), std::nullopt) << "nor there";
}

TEST(VariantEdit, impossibleSetting_isRefused) {
  EXPECT_EQ(reasonOf(edit(variant("f48"), "loads")), "no-front-end");
  EXPECT_EQ(reasonOf(edit(variant("noremat"), "loads")), "no-front-end");
  EXPECT_EQ(reasonOf(edit(variant("f32"), "shares")), "front-end-declarations");
  EXPECT_EQ(reasonOf(edit(variant("cg"), "prints")), "no-plain-global-loads");
  EXPECT_EQ(reasonOf(edit(variant("cg"), "constants")), "no-plain-global-loads");
  EXPECT_EQ(reasonOf(edit(variant("cs"), "prints")), "no-plain-global-loads");
  EXPECT_EQ(reasonOf(edit(variant("f32-cg"), "loads")), "no-plain-global-loads")
      << "the flavour's body counts";
  EXPECT_EQ(reasonOf(edit(variant("smem"), "shares")), "dynamic-shared-memory");
  EXPECT_EQ(reasonOf(edit(variant("smem"), "prints")), "abi-calls");
}

TEST(VariantEdit, smemSpilling_needsToolkit13AndWholeProgram) {
  const PtxEntry &Loads = *Base.find("loads"), &Prints = *Base.find("prints");
  EXPECT_EQ(reasonNotSmemSpilling(Loads, false, "13.0.88"), std::nullopt);
  EXPECT_EQ(reasonNotSmemSpilling(Loads, false, "14.2.1"), std::nullopt);
  EXPECT_EQ(reasonNotSmemSpilling(Loads, false, "12.9.86"), "toolkit-before-13");
  EXPECT_EQ(reasonNotSmemSpilling(Loads, false, ""), "toolkit-before-13");
  EXPECT_EQ(reasonNotSmemSpilling(Loads, true, "13.0.88"), "relocatable");
  EXPECT_EQ(reasonNotSmemSpilling(Prints, false, "13.0.88"), "abi-calls");
}

/// ptxas 13.0 takes too little shared memory for a bound of 176: the last warp accesses more.
TEST(VariantEdit, smemSpillingBound_isOfWholeWarps) {
  auto None = [](const FrontEndSetting &) -> Expected<const PtxModule *> { return nullptr; };
  for (auto [Block, Bound] : {std::pair{176u, 192u}, {1u, 32u}, {192u, 192u}, {1024u, 1024u}})
    EXPECT_EQ(cantFail(entryEdit(variant("smem"), *Base.find("loads"), Block, None))
                  .SmemSpillingMaxThreads,
              Bound);
  const PtxModule Bounded = moduleOf(".entry most() .maxntid 176, 1, 1 { ret; }\n"
                                     ".entry always() .reqntid 16, 11, 1 { ret; }\n"
                                     ".entry whole() .maxntid 16, 12, 1 { ret; }\n");
  for (auto [Entry, Reason] : {std::pair{"most", std::optional<std::string>("bound-within-a-warp")},
                               {"always", "bound-within-a-warp"},
                               {"whole", std::nullopt}}) {
    EXPECT_EQ(reasonNotSmemSpilling(*Bounded.find(Entry), false, "13.0.88"), Reason) << Entry;
    auto Edit = entryEdit(variant("r24-smem"), *Bounded.find(Entry), 192, None);
    EXPECT_EQ(Edit ? std::nullopt : std::optional(reasonOf(std::move(Edit))), Reason) << Entry;
  }
}

TEST(VariantEdit, smemSpillingBound_keepsLaunchesOfDefault) {
  DeviceModel D = cantFail(loadDeviceModel(CARVE_SOURCE_DIR "/share/carve-nvcc/devices", "sm_90"));
  EntryDirectives None, Bounded;
  Bounded.MaxNTid = {128, 2, 1};
  EXPECT_EQ(smemSpillingMaxThreads(D, None, 32), 1024u);
  EXPECT_EQ(smemSpillingMaxThreads(D, None, 128), 512u);
  EXPECT_EQ(smemSpillingMaxThreads(D, Bounded, 128), 256u);
}

TEST(VariantEdit, registerUsageLevel_replacesTheCommands) {
  EXPECT_EQ(atLevel(10, {"-arch=sm_90", "-m64"}),
            (Words{"-arch=sm_90", "-m64", "--register-usage-level=10"}));
  EXPECT_EQ(atLevel(0, {"--register-usage-level=5", "-m64"}),
            (Words{"-m64", "--register-usage-level=0"}));
  EXPECT_EQ(atLevel(0, {"-regUsageLevel", "5", "-m64"}),
            (Words{"-m64", "--register-usage-level=0"}));
  EXPECT_EQ(ptxasOptionsFor({}, Words{"--register-usage-level=5"}),
            (Words{"--register-usage-level=5"}));
}

TEST(VariantEdit, optimizationLevel_replacesTheCommands) {
  const AssemblerSetting Less{.OptimizationLevel = 1};
  for (const Words &Own : {Words{"-O3"}, Words{"-O", "3"}, Words{"-O=3"}, Words{"--opt-level=3"},
                           Words{"--opt-level", "3"}, Words{}}) {
    Words Options = Own;
    Options.insert(Options.begin(), "-arch=sm_90");
    Options.push_back("-Ofc=0");
    EXPECT_EQ(ptxasOptionsFor(Less, Options), (Words{"-arch=sm_90", "-Ofc=0", "--opt-level=1"}));
    EXPECT_TRUE(mayBeLessOptimized(Options));
  }
  EXPECT_EQ(ptxasOptionsFor({1, 0}, Words{"-m64"}),
            (Words{"-m64", "--opt-level=1", "--register-usage-level=0"}));
  EXPECT_FALSE(mayBeLessOptimized(Words{"-O1"}));
  EXPECT_FALSE(mayBeLessOptimized(Words{"--opt-level", "0"}));
}

TEST(VariantEdit, registerUsageLevels_oneOfEachOtherRangeIsTried) {
  using Levels = std::vector<unsigned>;
  EXPECT_EQ(registerUsageLevelsToTry(Words{"-m64"}), (Levels{0, 10}));
  EXPECT_EQ(registerUsageLevelsToTry(Words{"--register-usage-level=2"}), (Levels{5, 10}));
  EXPECT_EQ(registerUsageLevelsToTry(Words{"-regUsageLevel", "8"}), (Levels{0, 5}));
}

TEST(VariantEdit, reassembledKernels_areGroupedByTheirSetting) {
  std::vector<ReassembledKernels> Groups = reassembledKernels(
      {{"a", {1, {}}}, {"b", {}}, {"c", {{}, 10}}, {"d", {1, {}}}}, Words{"-m64"});
  ASSERT_EQ(Groups.size(), 2u);
  EXPECT_EQ(Groups[0].Options, (Words{"-m64", "--register-usage-level=10"}));
  EXPECT_EQ(Groups[0].Kernels, (Words{"c"}));
  EXPECT_EQ(Groups[1].Options, (Words{"-m64", "--opt-level=1"}));
  EXPECT_EQ(Groups[1].Kernels, (Words{"a", "d"}));
}

TEST(VariantEdit, reassembledKernel_unfitUnit_hasAReason) {
  EXPECT_EQ(reasonNotReassembled("sm_90a", Words{"-m64"}, false), std::nullopt);
  EXPECT_EQ(reasonNotReassembled("sm_90", Words{"-m64"}, true), "relocatable");
  EXPECT_EQ(reasonNotReassembled("sm_90", Words{"--generate-line-info"}, false),
            "line-information");
  EXPECT_EQ(reasonNotReassembled("sm_120", Words{}, false), "mercury-code");
}
