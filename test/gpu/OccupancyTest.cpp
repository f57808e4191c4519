// Compares the blocks per SM that `carve points` computes with what the driver says about the
// variants that are really assembled.
#include "GpuTesting.h"

#include "Cubin/Assembler.h"
#include "Device/Occupancy.h"
#include "Ptx/PtxModule.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"

using namespace carve;
using namespace carve::test;
namespace json = llvm::json;

namespace {

/// A cap of one kernel for one block size, and the level that the cap must give.
struct Level {
  std::string Kernel, Clone;
  int64_t Threads = 0, Cap = 0, Blocks = 0;
  /// The next lower point. With more registers than that, the kernel is at this level.
  int64_t CapBelow = 0;
};

/// One line of OccupancyCheck.
struct DriverAnswer {
  std::string Clone;
  unsigned Threads = 0, Blocks = 0, Regs = 0, StaticSmemBytes = 0;
};

void addLevels(const json::Object &Kernel, std::vector<Level> &Levels) {
  std::string Name = Kernel.getString("name")->str();
  for (const json::Value &Shape : *Kernel.getArray("shapes")) {
    int64_t Threads = 1, CapBelow = 0;
    for (const json::Value &Extent : *Shape.getAsObject()->getArray("block"))
      Threads *= *Extent.getAsInteger();
    for (const json::Value &Point : *Shape.getAsObject()->getArray("critical_points")) {
      int64_t Cap = *Point.getAsObject()->getInteger("regs");
      Levels.push_back({Name, Name + "__r" + std::to_string(Cap), Threads, Cap,
                        *Point.getAsObject()->getInteger("blocks_per_sm"), CapBelow});
      CapBelow = Cap;
    }
  }
}

/// Returns what `carve points` says about the tunable kernels of \p Source.
std::vector<Level> levelsOf(Project &P, const std::string &Source) {
  Words Arguments = {"points", "--arch=" + TestArch, "--format=json"};
  for (int Threads : {32, 96, 128, 192, 256, 512, 1024})
    Arguments.push_back("--block=" + std::to_string(Threads));
  Arguments.push_back(Source);
  CommandResult Result = P.carve(Arguments);
  EXPECT_EQ(Result.ExitStatus, 0) << Result.Stderr;
  llvm::Expected<json::Value> Report = json::parse(Result.Stdout);
  std::vector<Level> Levels;
  if (!Report)
    ADD_FAILURE() << llvm::toString(Report.takeError());
  else if (const json::Object *Object = Report->getAsObject())
    for (const json::Value &Kernel : *Object->getArray("kernels"))
      if (Kernel.getAsObject()->getBoolean("tunable") == true)
        addLevels(*Kernel.getAsObject(), Levels);
  EXPECT_FALSE(Levels.empty());
  return Levels;
}

/// Writes one cubin with a clone at every cap of \p Levels to \p Path.
Assembled assembleLevels(Project &P, const std::string &Source, const std::vector<Level> &Levels,
                         const std::string &Path) {
  std::string PtxPath = P.path("example.ptx");
  CommandResult Compiled =
      run({machine().T.Nvcc, "-ptx", "-arch=" + TestArch, Source, "-o", PtxPath});
  EXPECT_EQ(Compiled.ExitStatus, 0) << Compiled.Stderr;
  llvm::Expected<PtxModule> Ptx = PtxModule::parse(valueOf(readFile(PtxPath)));
  if (!Ptx) {
    ADD_FAILURE() << llvm::toString(Ptx.takeError());
    return {};
  }
  std::map<std::string, CloneRequest> Clones;
  for (const Level &L : Levels)
    Clones[L.Clone] = {L.Kernel, L.Clone, {unsigned(L.Cap)}};
  std::vector<CloneRequest> List;
  for (const auto &[Name, Request] : Clones)
    List.push_back(Request);
  ProcessRunner Runner;
  Assembled A = valueOf(assemble(machine().T, Runner, valueOf(Ptx->withClones(List)),
                                 {"-arch=" + TestArch}, "example.ptx"));
  EXPECT_FALSE(writeFileAtomically(Path, A.CubinBytes));
  return A;
}

std::vector<DriverAnswer> askDriver(const std::string &CubinPath,
                                    const std::vector<Level> &Levels) {
  std::string Self = llvm::sys::fs::getMainExecutable(nullptr, nullptr);
  Words Argv = {llvm::StringRef(Self).rsplit('/').first.str() + "/OccupancyCheck", CubinPath};
  for (const Level &L : Levels)
    for (const std::string &Word : {L.Clone, std::to_string(L.Threads), std::string("0")})
      Argv.push_back(Word);
  CommandResult Result = run(Argv);
  EXPECT_EQ(Result.ExitStatus, 0) << Result.Stderr;
  llvm::SmallVector<llvm::StringRef, 0> Lines;
  // The first line is the heading.
  llvm::StringRef(Result.Stdout).split('\n').second.split(Lines, '\n', -1, /*KeepEmpty=*/false);
  std::vector<DriverAnswer> Answers;
  for (llvm::StringRef Line : Lines) {
    llvm::SmallVector<llvm::StringRef, 8> F;
    Line.split(F, '\t');
    DriverAnswer A{F[0].str()};
    bool Bad = F.size() != 8 || F[1].getAsInteger(10, A.Threads) ||
               F[3].getAsInteger(10, A.Blocks) || F[4].getAsInteger(10, A.Regs) ||
               F[5].getAsInteger(10, A.StaticSmemBytes);
    EXPECT_FALSE(Bad) << Line.str();
    Answers.push_back(std::move(A));
  }
  EXPECT_EQ(Answers.size(), Levels.size());
  return Answers;
}

class OccupancyOf : public GpuTest, public testing::WithParamInterface<const char *> {};

} // namespace

TEST_P(OccupancyOf, everyLevel_isTheDriversToo) {
  Project P(std::string("occupancy-") + GetParam());
  std::string Source = machine().examplesDir() + "/" + GetParam() + ".cu";
  std::vector<Level> Levels = levelsOf(P, Source);
  Assembled A = assembleLevels(P, Source, Levels, P.path("levels.cubin"));
  std::vector<DriverAnswer> Answers = askDriver(P.path("levels.cubin"), Levels);
  ASSERT_EQ(Answers.size(), Levels.size());
  DeviceModel Model = valueOf(loadDeviceModel(machine().devicesDir(), TestArch));
  llvm::StringMap<const KernelResources *> Reported;
  for (const KernelResources &R : A.Kernels)
    Reported[R.Name] = &R;
  for (size_t I = 0; I < Levels.size(); ++I) {
    const Level &L = Levels[I];
    const DriverAnswer &D = Answers[I];
    const KernelResources *R = Reported.lookup(L.Clone);
    ASSERT_TRUE(R && D.Clone == L.Clone) << L.Clone;
    std::string What = L.Clone + " block " + std::to_string(L.Threads);
    EXPECT_EQ(D.Regs, R->RegsPerThread) << What;
    EXPECT_EQ(D.StaticSmemBytes, R->StaticSmemBytes) << What;
    EXPECT_EQ(D.Blocks, blocksPerSm(Model, {R->RegsPerThread, unsigned(L.Threads),
                                            R->StaticSmemBytes, 0, R->Barriers}))
        << What;
    // The assembler may use fewer registers than its cap, even fewer than at the point before.
    if (R->RegsPerThread > L.CapBelow)
      EXPECT_EQ(D.Blocks, L.Blocks) << What;
    else
      EXPECT_GT(D.Blocks, L.Blocks) << What;
  }
}

INSTANTIATE_TEST_SUITE_P(Examples, OccupancyOf,
                         testing::Values("bounds", "chemistry", "eight", "gather", "matmul",
                                         "nbody", "stencil3d", "thermal"),
                         [](const auto &Info) { return std::string(Info.param); });
