// `carve points` on real compiles: its numbers compared with direct calls of cuda_occupancy.h, and
// its caps with what ptxas makes of them.
#include "Cubin/Assembler.h"
#include "Ptx/ProfileName.h"
#include "toolchain/PointsFixture.h"
#include "unit/Device/HeaderOccupancy.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"

#include <set>

using namespace carve;
using namespace carve::test;

namespace {

class Points : public PointsFixture {};

const std::string &Inputs = PointsInputs;

const KernelPoints *find(const PointsReport &Report, llvm::StringRef Name, llvm::StringRef Arch) {
  for (const KernelPoints &K : Report.Kernels)
    if (K.Arch == Arch && llvm::StringRef(K.Region.Kernel).contains(Name))
      return &K;
  ADD_FAILURE() << "no " << Name.str() << " of " << Arch.str();
  return nullptr;
}

/// From registers to blocks by the definition: the largest register count of every level.
std::map<unsigned, unsigned> bruteForce(const KernelPoints &K, const ShapePoints &S) {
  llvm::StringRef Number = llvm::StringRef(K.Arch).drop_front(3);
  int Sm = 0;
  EXPECT_FALSE(Number.rtrim("af").getAsInteger(10, Sm));
  unsigned Threads = S.Block[0] * S.Block[1] * S.Block[2];
  std::map<unsigned, unsigned> LargestOfLevel, Map;
  for (unsigned Regs = K.Region.rMin(); Regs <= K.Region.rMax(); ++Regs)
    LargestOfLevel[headerBlocks(limitsOf(Sm), Regs, Threads, K.Region.Default.StaticSmemBytes,
                                S.DynamicSmemBytes, K.Region.Default.Barriers)] = Regs;
  LargestOfLevel.erase(0);
  for (auto [Blocks, Regs] : LargestOfLevel)
    Map[Regs] = Blocks;
  return Map;
}

std::map<unsigned, unsigned> levels(const ShapePoints &S) {
  std::map<unsigned, unsigned> Map;
  for (const CriticalPoint &P : S.Points)
    Map[P.Regs] = P.BlocksPerSm;
  return Map;
}

const std::vector<std::string> Archs = {"sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"};

const std::vector<std::string> Everything = {"--arch=sm_75,sm_80,sm_86,sm_90,sm_100,sm_120",
                                             "--block=128",
                                             "--block",
                                             "32x8x1",
                                             "--block=64x4,96",
                                             "--dynamic-smem=12000",
                                             Inputs + "kernels.cu"};

TEST_F(Points, points_everyKernelArchitectureAndShape_equalTheHeader) {
  const PointsReport &Report = pointsOrFail(Everything);
  ASSERT_EQ(Report.Kernels.size(), 8 * Archs.size());
  for (auto [I, K] : llvm::enumerate(Report.Kernels)) {
    EXPECT_EQ(K.Arch, Archs[I % Archs.size()]);
    EXPECT_EQ(K.Reason, std::nullopt) << K.Region.Kernel;
    ASSERT_EQ(K.Shapes.size(), 4u);
    EXPECT_EQ(K.Shapes[1].Block, (std::array<unsigned, 3>{32, 8, 1}));
    for (const ShapePoints &S : K.Shapes) {
      EXPECT_EQ(S.DynamicSmemBytes, 12000u);
      EXPECT_FALSE(S.Points.empty()) << K.Region.Kernel << " " << K.Arch;
      EXPECT_EQ(levels(S), bruteForce(K, S)) << K.Region.Kernel << " " << K.Arch;
    }
  }
}

TEST_F(Points, points_areInTheOrderOfTheFile) {
  const PointsReport &Report = pointsOrFail(Everything);
  std::vector<std::string> Names;
  for (const KernelPoints &K : Report.Kernels)
    if (K.Arch == "sm_80")
      Names.push_back(profileName(K.Region.Kernel));
  EXPECT_EQ(Names, (std::vector<std::string>{
                       "plain(float*, int)", "bounded(float*, int)", "wide(float*, int)",
                       "capped(float*, int)", "tiny(float*)", "shared(float*, int)",
                       "barriers(float*, int)", "(anonymous namespace)::hidden(float*)"}));
}

// Each cap, given to ptxas, must give at most as many registers, and at least as many blocks as its
// level. The architectures are one for each number of threads that an SM may hold.
TEST_F(Points, caps_assembled_reachTheirLevel) {
  const PointsReport &Report = pointsOrFail({"--arch=sm_75,sm_86,sm_90", Inputs + "kernels.cu"});
  for (const std::string Arch : {"sm_75", "sm_86", "sm_90"}) {
    auto Module = PtxModule::parse(llvm::cantFail(readFile(ptxOf("kernels.cu", Arch))));
    ASSERT_TRUE(bool(Module));
    int Sm = std::stoi(Arch.substr(3));
    for (size_t Nth = 0;; ++Nth) {
      std::map<std::string, std::pair<CriticalPoint, unsigned>> Chosen;
      llvm::StringMap<unsigned> Caps;
      for (const KernelPoints &K : Report.Kernels) {
        const ShapePoints &S = K.Shapes.front();
        if (K.Arch != Arch || Nth >= S.Points.size())
          continue;
        Chosen[K.Region.Kernel] = {S.Points[Nth], S.Block[0] * S.Block[1] * S.Block[2]};
        Caps[K.Region.Kernel] = S.Points[Nth].Regs;
      }
      if (Chosen.empty())
        break;
      auto Made = assemble(T, Runner, llvm::cantFail(Module->withRegisterCaps(Caps)),
                           {"-arch=" + Arch, "-m64"});
      ASSERT_TRUE(bool(Made)) << toString(Made.takeError());
      for (const KernelResources &K : Made->Kernels) {
        auto It = Chosen.find(K.Name);
        if (It == Chosen.end())
          continue;
        auto [Point, Threads] = It->second;
        // ptxas raises a cap below its minimum of 24. Occupancy is the same there.
        EXPECT_LE(K.RegsPerThread, std::max(Point.Regs, 24u)) << K.Name << " " << Arch;
        EXPECT_GE(
            headerBlocks(limitsOf(Sm), K.RegsPerThread, Threads, K.StaticSmemBytes, 0, K.Barriers),
            Point.BlocksPerSm)
            << K.Name << " " << Arch << " cap " << Point.Regs;
      }
    }
  }
}

TEST_F(Points, region_isWhatPtxasUsesAtTheEnds) {
  const PointsReport &Report = pointsOrFail({"--arch=sm_90", Inputs + "kernels.cu"});
  std::string Text = llvm::cantFail(readFile(ptxOf("kernels.cu", "sm_90")));
  for (auto [Cap, End] :
       {std::pair("1", &RegisterRegion::AtMin), std::pair("255", &RegisterRegion::AtMax)}) {
    auto Made =
        assemble(T, Runner, Text, {"-arch=sm_90", "-m64", "-maxrregcount=" + std::string(Cap)});
    ASSERT_TRUE(bool(Made));
    for (const KernelResources &K : Made->Kernels) {
      if (K.Name != "_Z5plainPfi" && K.Name != "_Z6sharedPfi" && K.Name != "_Z8barriersPfi")
        continue;
      const RegisterRegion &R = find(Report, K.Name, "sm_90")->Region;
      EXPECT_EQ((R.*End).RegsPerThread, K.RegsPerThread) << K.Name;
      EXPECT_EQ((R.*End).spillBytes(), K.spillBytes()) << K.Name;
    }
  }
  EXPECT_EQ(find(Report, "plain", "sm_90")->Region.rMin(), 24u);
  EXPECT_GT(find(Report, "plain", "sm_90")->Region.AtMin.spillBytes(), 0u);
}

TEST_F(Points, launchBounds_limitRegionAndGiveTheBlock) {
  const PointsReport &Report = pointsOrFail({"--arch=sm_90", Inputs + "kernels.cu"});
  const KernelPoints *Bounded = find(Report, "bounded", "sm_90");
  EXPECT_EQ(Bounded->Region.rMin(), 24u);
  EXPECT_EQ(Bounded->Region.rMax(), 64u);
  EXPECT_EQ(Bounded->Shapes.front().Block[0], 256u);
  EXPECT_EQ(Bounded->Shapes.front().Points.back().BlocksPerSm, 4u);
  // .maxntid alone makes ptxas ignore -maxrregcount, too.
  const KernelPoints *Wide = find(Report, "wide", "sm_90");
  EXPECT_EQ(Wide->Region.rMin(), 24u);
  EXPECT_EQ(Wide->Shapes.front().Block[0], 512u);
  EXPECT_EQ(Wide->Directives.maxThreadsPerBlock(), 512u);
}

TEST_F(Points, capInTheSource_doesNotLimitTheRegion) {
  const PointsReport &Report = pointsOrFail({"--arch=sm_90", Inputs + "kernels.cu"});
  const KernelPoints *Capped = find(Report, "capped", "sm_90");
  EXPECT_EQ(Capped->Region.Default.RegsPerThread, 40u);
  EXPECT_GT(Capped->Region.Default.spillBytes(), 0u);
  EXPECT_GT(Capped->Region.rMax(), 64u);
  EXPECT_EQ(Capped->Region.rMin(), 24u);
}

const std::vector<std::string> TwoBlocks = {"--arch=sm_90", "--block=512", "--block=64",
                                            Inputs + "kernels.cu"};

TEST_F(Points, block_refusedByDirectives_hasNoPoints) {
  const PointsReport &Report = pointsOrFail(TwoBlocks);
  EXPECT_TRUE(find(Report, "bounded", "sm_90")->Shapes.front().Points.empty());
  EXPECT_FALSE(find(Report, "wide", "sm_90")->Shapes.front().Points.empty());
}

TEST_F(Points, sharedMemory_limitsTheLevels) {
  const PointsReport &Report =
      pointsOrFail({"--arch=sm_75,sm_90", "--dynamic-smem=30000", Inputs + "kernels.cu"});
  const KernelPoints *Shared = find(Report, "shared", "sm_75");
  EXPECT_EQ(Shared->Region.Default.StaticSmemBytes, 20000u);
  // The block takes 50000 bytes of 64 KB, so one block fits with any registers. The only point is
  // the upper end of the region.
  ASSERT_EQ(Shared->Shapes.front().Points.size(), 1u);
  EXPECT_EQ(Shared->Shapes.front().Points.front().Regs, Shared->Region.rMax());
  EXPECT_EQ(find(Report, "shared", "sm_90")->Shapes.front().Points.front().BlocksPerSm, 4u);
  const PointsReport &TooMuch =
      pointsOrFail({"--arch=sm_90", "--dynamic-smem=230000", Inputs + "kernels.cu"});
  EXPECT_TRUE(find(TooMuch, "shared", "sm_90")->Shapes.front().Points.empty());
  EXPECT_FALSE(find(TooMuch, "plain", "sm_90")->Shapes.front().Points.empty());
}

TEST_F(Points, sixteenBarriers_limitTheLevels) {
  const PointsReport &Report = pointsOrFail(TwoBlocks);
  const KernelPoints *Barriers = find(Report, "barriers", "sm_90");
  EXPECT_EQ(Barriers->Region.Default.Barriers, 16u);
  ASSERT_EQ(Barriers->Shapes.size(), 2u);
  ASSERT_EQ(Barriers->Shapes[1].Points.size(), 1u);
  EXPECT_EQ(Barriers->Shapes[1].Points.front().BlocksPerSm, 4u);
}

TEST_F(Points, setMaxNRegKernels_areNamedAndLeft) {
  const PointsReport &Report = pointsOrFail({"--arch=sm_90a,sm_90", Inputs + "moves.cu"});
  ASSERT_EQ(Report.Kernels.size(), 4u);
  const KernelPoints *Moves = find(Report, "moves", "sm_90a");
  EXPECT_EQ(Moves->Reason, "setmaxnreg");
  ASSERT_EQ(Moves->Shapes.size(), 1u);
  EXPECT_TRUE(Moves->Shapes.front().Points.empty());
  const KernelPoints *Stays = find(Report, "stays", "sm_90a");
  EXPECT_EQ(Stays->Reason, std::nullopt);
  EXPECT_GT(Stays->Shapes.front().Points.size(), 1u);
  EXPECT_EQ(levels(Stays->Shapes.front()), bruteForce(*Stays, Stays->Shapes.front()));
  EXPECT_EQ(find(Report, "stays", "sm_90")->Region.rMin(), Stays->Region.rMin());
}

TEST_F(Points, kernelsThatCallOtherFiles_withRdc_areLeft) {
  const PointsReport &Report =
      pointsOrFail({"--arch=sm_90", Inputs + "external.cu", "--", "-rdc=true"});
  EXPECT_EQ(find(Report, "calls", "sm_90")->Reason, "external-call");
  EXPECT_EQ(find(Report, "alone", "sm_90")->Reason, std::nullopt);
  const PointsReport &Dc = pointsOrFail({"--arch=sm_90", Inputs + "external.cu", "--", "-dc"});
  EXPECT_EQ(find(Dc, "calls", "sm_90")->Reason, "external-call");
}

TEST_F(Points, capOfTheUser_isTheCeiling) {
  for (std::vector<std::string> Options :
       {std::vector<std::string>{"-maxrregcount", "48"}, {"-Xptxas=-O3,--maxrregcount=48"}}) {
    std::vector<std::string> Args = {"--arch=sm_90", Inputs + "kernels.cu", "--"};
    llvm::append_range(Args, Options);
    const PointsReport &Report = pointsOrFail(Args);
    ASSERT_EQ(Report.Kernels.size(), 8u) << Options.front();
    for (const KernelPoints &K : Report.Kernels)
      EXPECT_LE(K.Region.rMax(), 48u) << K.Region.Kernel << " " << Options.front();
    EXPECT_EQ(find(Report, "plain", "sm_90")->Region.Default.RegsPerThread, 48u);
  }
}

TEST_F(Points, architectures_areThoseOfTheCommand) {
  const PointsReport &Report =
      pointsOrFail({Inputs + "moves.cu", "--", "-c", "-gencode", "arch=compute_80,code=sm_80",
                    "--generate-code=arch=compute_90,code=[sm_90,compute_90]"});
  std::vector<std::string> Seen;
  for (const KernelPoints &K : Report.Kernels)
    Seen.push_back(K.Arch);
  EXPECT_EQ(Seen, (std::vector<std::string>{"sm_80", "sm_90", "sm_80", "sm_90"}));
  const PointsReport &Asked =
      pointsOrFail({"--arch", "sm_86", Inputs + "moves.cu", "--", "-arch", "sm_80", "-std=c++17"});
  ASSERT_EQ(Asked.Kernels.size(), 2u);
  EXPECT_EQ(Asked.Kernels.front().Arch, "sm_86");
  EXPECT_NE(usageMessage({Inputs + "moves.cu", "--", "-arch=compute_90", "-code=compute_90"})
                .find("no real architecture"),
            std::string::npos);
}

TEST_F(Points, outputsOfTheUser_areNotWritten) {
  std::string Object = Dir->path() + "/x.o", Depfile = Dir->path() + "/x.d";
  pointsOrFail(
      {"--arch=sm_90", Inputs + "moves.cu", "--", "-c", "-o", Object, "-MD", "-MF", Depfile});
  EXPECT_FALSE(llvm::sys::fs::exists(Object));
  EXPECT_FALSE(llvm::sys::fs::exists(Depfile));
}

TEST_F(Points, points_ofAPtxFile_areThoseOfItsSource) {
  std::string Ptx = ptxOf("kernels.cu", "sm_90");
  const PointsReport &OfSource = pointsOrFail({"--arch=sm_90", Inputs + "kernels.cu"});
  EXPECT_EQ(printPointsJson(pointsOrFail({Ptx})), printPointsJson(OfSource));
  EXPECT_EQ(printPointsJson(pointsOrFail({"--arch=sm_90", Ptx})), printPointsJson(OfSource));
  const PointsReport &Newer = pointsOrFail({"--arch=sm_100,sm_120", Ptx, "--", "-Xptxas", "-O2"});
  EXPECT_EQ(Newer.Kernels.size(), 16u);
  const PointsReport &Ceiling = pointsOrFail({Ptx, "--", "-maxrregcount=40"});
  EXPECT_EQ(find(Ceiling, "plain", "sm_90")->Region.rMax(), 40u);
}

TEST_F(Points, json_hasTheDocumentedShape) {
  const PointsReport &Report = pointsOrFail({"--arch=sm_90a", "--block=128", Inputs + "moves.cu"});
  auto Value = llvm::json::parse(printPointsJson(Report));
  ASSERT_TRUE(bool(Value));
  const llvm::json::Object &Root = *Value->getAsObject();
  EXPECT_EQ(Root.getString("nvcc"), llvm::cantFail(nvccVersion(T, Runner)));
  const llvm::json::Array &Kernels = *Root.getArray("kernels");
  ASSERT_EQ(Kernels.size(), 2u);
  const llvm::json::Object &Moves = *Kernels[0].getAsObject();
  EXPECT_EQ(Moves.getString("tunable"), "setmaxnreg");
  const llvm::json::Object &K = *Kernels[1].getAsObject();
  std::set<std::string> Keys;
  for (const auto &Entry : K)
    Keys.insert(Entry.first.str());
  EXPECT_EQ(Keys,
            (std::set<std::string>{"arch", "default_regs", "default_spill_bytes", "demangled",
                                   "launch_bounds", "name", "r_max", "r_min", "r_min_spill_bytes",
                                   "shapes", "static_smem_bytes", "tunable"}));
  EXPECT_EQ(K.getString("name"), "_Z5staysPfi");
  EXPECT_EQ(K.getString("demangled"), "stays(float*, int)");
  EXPECT_EQ(K.getString("arch"), "sm_90a");
  EXPECT_EQ(K.getBoolean("tunable"), true);
  EXPECT_EQ(K.get("launch_bounds")->getAsNull(), nullptr);
  const llvm::json::Object &Shape = *K.getArray("shapes")->front().getAsObject();
  EXPECT_EQ(*Shape.getArray("block"), (llvm::json::Array{128, 1, 1}));
  EXPECT_EQ(Shape.getInteger("dynamic_smem_bytes"), 0);
  const llvm::json::Object &Point = *Shape.getArray("critical_points")->front().getAsObject();
  EXPECT_TRUE(Point.getInteger("regs") && Point.getInteger("blocks_per_sm") &&
              Point.getInteger("warps_per_sm") && Point.getNumber("occupancy"));
}

TEST_F(Points, text_namesKernelsShapesAndReasons) {
  std::string Text =
      printPointsText(pointsOrFail({"--arch=sm_90a", "--block=32x4", Inputs + "moves.cu"}));
  EXPECT_NE(Text.find("stays(float*, int)  [sm_90a]"), std::string::npos) << Text;
  EXPECT_NE(Text.find("block 32x4x1"), std::string::npos) << Text;
  EXPECT_NE(Text.find("not tunable: setmaxnreg"), std::string::npos) << Text;
}

} // namespace
