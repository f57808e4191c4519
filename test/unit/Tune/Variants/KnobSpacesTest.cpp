#include "Tune/Variants/KnobSpaces.h"

#include "Store/FlavourPtx.h"
#include "unit/Tune/TuneTesting.h"

using namespace carve;

namespace {

/// A kernel `k` of a unit with given PTX.
class KnobSpacesTest : public testing::Test {
protected:
  KnobSpacesTest() {
    M.Source.NvccVersion = "13.0.88";
    M.Image.PtxDigest = "ptx";
    M.Source.FrontEnds.resize(1);
    M.Source.FrontEnds[0].PtxDigest = "ptx";
    M.Source.FrontEnds[0].Step.Arguments = {"-arch", "compute_90"};
    setBody("ld.global.f32 %f1, [%rd1]; ret;");
    Kernel.Region.AtMin.SpillStoreBytes = 8;
  }
  void setBody(const std::string &Body, const std::string &Before = "") {
    M.Ptx = valueOf(PtxModule::parse(".version 9.0\n.target sm_90\n.address_size 64\n" + Before +
                                     ".visible .entry k() {\n.reg .f32 %f<2>;\n.reg .b64 "
                                     "%rd<2>;\n" +
                                     Body + "\n}\n"));
  }
  KnobSpace space() {
    JobContext Context{
        Store, {}, Runner, Options, [](const Unit &, const UnitImage &, const FrontEndSetting &) {
          return std::string();
        }};
    return knobSpaceOf(Kernel, M, Job, Context, Built);
  }

  TuningJob Job = sampleJob();
  JobKernel Kernel = sampleKernel("k", 1);
  KernelBuild Built;
  ParsedModule M{{}, {}, {}, valueOf(PtxModule::parse(".version 9.0\n.target sm_90\n")), {}, {}};
  UnitStore Store{"/dev/null/nonexistent"};
  ProbedProgram Runner;
  TuningOptions Options;
};

VariantSetting named(llvm::StringRef Name) { return valueOf(parseVariantName(Name)); }

} // namespace

TEST_F(KnobSpacesTest, space_ordinaryKernel_hasAllKnobs) {
  KnobSpace S = space();
  EXPECT_EQ(S.Caps, (std::vector<unsigned>{32, 40, 48, 64}));
  EXPECT_EQ(S.DefaultRegs, 40u);
  EXPECT_EQ(S.MinRegs, 24u);
  EXPECT_EQ(S.MaxRegs, 64u) << "72 registers would shrink the largest block";
  EXPECT_EQ(Built.LaunchableRegs, 64u);
  EXPECT_TRUE(S.FrontEndCaps);
  std::vector<FrontEndKnob> Knobs = frontEndKnobs().vec();
  llvm::erase_if(Knobs, isForKnownLaunches);
  EXPECT_EQ(S.FrontEndKnobs, Knobs) << "nothing is known of the launches";
  Kernel.Known.Values = {{1, 4, 7}};
  EXPECT_EQ(space().FrontEndKnobs.size(), Knobs.size() + 1);
  Kernel.KnownShapes = {{{{2, 4, 7}}}};
  EXPECT_EQ(space().FrontEndKnobs, frontEndKnobs().vec());
  EXPECT_FALSE(space().KnownPtx);
  Kernel.KnownPtx.Values = {{1, 4, 7}};
  EXPECT_TRUE(space().KnownPtx);
  EXPECT_FALSE(space().Restrict);
  Kernel.Apart = {{0, 0}, {1, 0}};
  EXPECT_TRUE(space().Restrict);
  EXPECT_TRUE(S.SmemSpilling);
  EXPECT_EQ(S.LoadCachings,
            (std::vector{LoadCaching::L2Only, LoadCaching::EvictFirst, LoadCaching::NoAllocate}));
  EXPECT_EQ(S.RegisterUsageLevels, (std::vector<unsigned>{0, 10}));
  EXPECT_TRUE(S.LessOptimized);
  EXPECT_EQ(Built.SmemSpillingThreads, 1024u);
}

TEST_F(KnobSpacesTest, assemblerSettings_unitThatHasNone_areOffWithAReason) {
  M.Image.PtxasOptions.push_back("--generate-line-info");
  KnobSpace S = space();
  EXPECT_TRUE(S.RegisterUsageLevels.empty());
  EXPECT_FALSE(S.LessOptimized);
  ASSERT_FALSE(Built.Dropped.empty());
  EXPECT_EQ(Built.Dropped.back(), "settings of the assembler (o1, l0, l10): line-information");
}

TEST_F(KnobSpacesTest, assemblerSettings_ofTheCommand_areNotTriedAgain) {
  M.Image.PtxasOptions = {"-O1", "--register-usage-level=8"};
  KnobSpace S = space();
  EXPECT_EQ(S.RegisterUsageLevels, (std::vector<unsigned>{0, 5}));
  EXPECT_FALSE(S.LessOptimized);
}

TEST_F(KnobSpacesTest, frontEndCaps_noRecordOfTheFrontEnd_areOff) {
  M.Source.FrontEnds[0].PtxDigest = "of another image";
  EXPECT_FALSE(space().FrontEndCaps);
  EXPECT_TRUE(space().FrontEndKnobs.empty());
}

TEST_F(KnobSpacesTest, laterArchitecture_hasTheNewerLlvmAlready) {
  M.Source.FrontEnds[0].Step.Arguments = {"-arch", "compute_100"};
  EXPECT_EQ(space().FrontEndKnobs,
            (std::vector{FrontEndKnob::UnrollMore, FrontEndKnob::NoRematerialization,
                         FrontEndKnob::UnrollByTwo}));
}

TEST_F(KnobSpacesTest, smemSpilling_endsOfTheRegion_tellWhereNothingIsSpilled) {
  EXPECT_EQ(space().SpillsBelow, 40u) << "the default spills nothing";
  Kernel.Region.AtMin.SpillStoreBytes = 0;
  EXPECT_EQ(space().SpillsBelow, 0u);
  setBody("call f; ret;", ".func f() { ret; }\n");
  EXPECT_EQ(space().SpillsBelow, 256u) << "what a function spills is not known";
  setBody("ret;");
  Kernel.Region.AtMin.SpillStoreBytes = Kernel.Region.Default.SpillLoadBytes = 8;
  EXPECT_EQ(space().SpillsBelow, 72u);
  Kernel.Region.AtMax.SpillLoadBytes = 8;
  EXPECT_EQ(space().SpillsBelow, 256u);
}

TEST_F(KnobSpacesTest, smemSpilling_launchedWithUnusedDynamicMemory_isOnlyForTracedLaunches) {
  Kernel.Traced.Shapes[0].Shape.DynamicSmemBytes = 8;
  EXPECT_FALSE(space().SmemSpilling);
  Options.Domain = LaunchDomain::Traced;
  EXPECT_TRUE(space().SmemSpilling);
  setBody("mov.u64 %rd1, s; ret;", ".extern .shared .align 4 .b8 s[];\n");
  EXPECT_FALSE(space().SmemSpilling) << "ptxas refuses it";
}

TEST_F(KnobSpacesTest, smemSpilling_notSupported_isOff) {
  M.Source.NvccVersion = "12.9.80";
  EXPECT_FALSE(space().SmemSpilling);
  M.Source.NvccVersion = "13.0.88";
  M.Source.Relocatable = true;
  EXPECT_FALSE(space().SmemSpilling);
  M.Source.Relocatable = false;
  setBody("mov.u64 %rd1, s; ret;", ".extern .shared .align 4 .b8 s[];\n");
  EXPECT_FALSE(space().SmemSpilling);
}

TEST_F(KnobSpacesTest, smemSpillingThreads_tracedDomain_isTheLargestTracedBlock) {
  Options.Domain = LaunchDomain::Traced;
  space();
  EXPECT_EQ(Built.SmemSpillingThreads, 256u);
}

TEST_F(KnobSpacesTest, loadCaching_hasTheValuesThatChangeALoad) {
  setBody("ld.global.nc.f32 %f1, [%rd1]; ret;");
  EXPECT_EQ(space().LoadCachings, (std::vector{LoadCaching::EvictFirst, LoadCaching::NoAllocate}));
  setBody("ld.f32 %f1, [%rd1]; ret;");
  EXPECT_EQ(space().LoadCachings, std::vector{LoadCaching::L2Only});
  setBody("ld.global.cv.f32 %f1, [%rd1]; ret;");
  EXPECT_TRUE(space().LoadCachings.empty());
}

TEST_F(KnobSpacesTest, forbiddenSetting_aboveTheUsersCap_isForbidden) {
  M.Source.RegisterCap = 48;
  EXPECT_EQ(forbiddenSetting(named("r48-f48-cg"), M), std::nullopt);
  EXPECT_EQ(forbiddenSetting(named("r56"), M), "above the register cap of the command, 48");
  EXPECT_NE(forbiddenSetting(named("r40-f255"), M), std::nullopt);
  M.Source.RegisterCap.reset();
  EXPECT_EQ(forbiddenSetting(named("r56-f255"), M), std::nullopt);
}

TEST(AllSettings, settings_severalKnobs_areTheirProduct) {
  KnobSpace S;
  S.Caps = {32, 255};
  auto Names = [&] {
    std::vector<std::string> List;
    for (const VariantSetting &V : allSettings(S))
      List.push_back(variantName(V));
    return List;
  };
  EXPECT_EQ(Names(), (std::vector<std::string>{"r32", "r255"}));
  S.FrontEndCaps = true;
  EXPECT_EQ(Names(),
            (std::vector<std::string>{"f255", "r32", "r32-f32", "r32-f255", "r255", "r255-f255"}));
  S.LoadCachings = {LoadCaching::L2Only, LoadCaching::NoAllocate};
  S.SmemSpilling = true;
  EXPECT_EQ(Names().size(), 2 * 3 * 7u - 1);
  EXPECT_TRUE(llvm::is_contained(Names(), "r32-f255-smem-noalloc"));
  S.SpillsBelow = 48;
  S.DefaultRegs = 40;
  EXPECT_TRUE(llvm::is_contained(Names(), "r32-smem"));
  EXPECT_TRUE(llvm::is_contained(Names(), "smem"));
  EXPECT_FALSE(llvm::is_contained(Names(), "r255-smem")) << "nothing is spilled there";
  S.SpillsBelow = 256;
  S.FrontEndKnobs = {FrontEndKnob::UnrollMore, FrontEndKnob::NoRematerialization};
  EXPECT_EQ(Names().size(), 2 * 3 * (7u + 3 * 2) - 1);
  EXPECT_TRUE(llvm::is_contained(Names(), "r32-unroll-smem"));
  EXPECT_FALSE(llvm::is_contained(Names(), "r32-f255-noremat"));
}
