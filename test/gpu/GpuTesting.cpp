#include "GpuTesting.h"
#include "Command/Installation.h"

#include "Compile/DriverOptions.h"
#include "Ptx/ProfileName.h"
#include "Support/Parallel.h"
#include "Tune/Job/JobParts.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"

using namespace carve;
using namespace carve::test;

static std::optional<std::string> environment(llvm::StringRef Name) {
  return llvm::sys::Process::GetEnv(Name);
}

static Machine findMachine() {
  Machine M;
  M.Prefix = environment("CARVE_TEST_PREFIX").value_or(CARVE_BUILD_TREE);
  M.Sources = environment("CARVE_TEST_SOURCE").value_or(CARVE_GPU_TEST_SOURCE);
  if (llvm::Expected<Toolchain> T = findToolchain(environment, M.tool("carve-nvcc")))
    M.T = *T;
  else
    M.Missing = llvm::toString(T.takeError());
  M.Probe = {M.Prefix + "/lib/libcarve_probe.so", findCupti(M.T.BinDir).value_or("")};
  for (const std::string &Path :
       {M.tool("carve-nvcc"), M.tool("carve"), M.Probe.Library, M.Sources + "/apps/basic.cu"})
    if (M.Missing.empty() && !llvm::sys::fs::exists(Path))
      M.Missing = "no " + Path;
  if (M.Missing.empty() && !gpuPresent(environment))
    M.Missing = "no GPU: no /dev/nvidia*, or CUDA_VISIBLE_DEVICES hides it";
  return M;
}

const Machine &carve::test::machine() {
  static const Machine M = findMachine();
  return M;
}

const std::string &carve::test::workDir() {
  static const TempDir Dir = llvm::cantFail(TempDir::create("carve-gpu"));
  return Dir.path();
}

void GpuTest::SetUp() {
  const std::string &Missing = machine().Missing;
  if (Missing.empty())
    return;
  if (environment("CARVE_REQUIRE_GPU") == "1")
    FAIL() << Missing;
  GTEST_SKIP() << Missing;
}

CommandResult carve::test::run(Words Argv, Words Environment, double TimeoutS) {
  Command C;
  C.TimeoutS = TimeoutS;
  C.Argv = std::move(Argv);
  C.Dir = workDir();
  C.Environment = {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS",   "CARVE_LOG",
                   "CARVE_PROFILE",      "CARVE_RUN",           "CARVE_STORE",
                   "CARVE_ENTRIES",      "CUDA_MODULE_LOADING", "CUDA_INJECTION64_PATH"};
  llvm::append_range(C.Environment, Environment);
  C.StdinPath = "/dev/null";
  C.CaptureStdout = C.CaptureStderr = true;
  return valueOf(ProcessRunner().run(C));
}

namespace {
/// One call of nvcc. `@` is replaced by the directory of the sources.
struct Recipe {
  std::string Name;
  Words Arguments;
};
} // namespace

static std::vector<Recipe> recipes() {
  const std::string Lib = machine().T.BinDir + "/../lib64";
  std::vector<Recipe> All;
  for (const char *Name : {"averages", "basic", "captured", "cooperative", "cluster", "counters",
                           "dynamic_smem", "endings", "exchanged", "forks", "graph", "no_gpu",
                           "occupancy", "pressed", "processes", "sharing", "streams"})
    All.push_back({Name, {std::string("@/") + Name + ".cu"}});
  All.push_back(
      {"basic_shared", {"-cudart=shared", "-L" + Lib, "-Xlinker", "-rpath," + Lib, "@/basic.cu"}});
  All.push_back({"two_modules", {"@/two_modules_main.cu", "@/two_modules_other.cu"}});
  All.push_back({"plugin.so", {"-shared", "-Xcompiler", "-fPIC", "@/plugin.cu"}});
  All.push_back({"library.so", {"-shared", "-Xcompiler", "-fPIC", "@/library.cu"}});
  All.push_back({"ranks", {"@/ranks.cpp"}});
  All.push_back({"wrong_variants", {"@/wrong_variants.cu"}});
  All.push_back({"plugin_main", {"@/plugin_main.cu", "-ldl"}});
  All.push_back({"driver_module", {"@/driver_module.cu", "-L" + Lib + "/stubs", "-lcuda"}});
  All.push_back({"driver.cubin", {"-cubin", "@/driver_module_kernel.cu"}});
  All.push_back({"driver.fatbin", {"-fatbin", "@/driver_module_kernel.cu"}});
  return All;
}

static std::map<std::string, CommandResult> compileAll() {
  std::vector<Recipe> All = recipes();
  std::vector<CommandResult> Results(All.size());
  runInParallel(All.size(), [&](size_t I) {
    Words Argv = {machine().T.Nvcc, "-O2", "-arch=" + TestArch, "-o",
                  workDir() + "/" + All[I].Name};
    for (const std::string &Word : All[I].Arguments)
      Argv.push_back(Word[0] == '@' ? machine().Sources + "/apps" + Word.substr(1) : Word);
    Results[I] = run(std::move(Argv));
  });
  std::map<std::string, CommandResult> ByName;
  for (size_t I = 0; I < All.size(); ++I)
    ByName[All[I].Name] = std::move(Results[I]);
  return ByName;
}

std::string carve::test::program(const std::string &Name) {
  static const std::map<std::string, CommandResult> Compiled = compileAll();
  auto Found = Compiled.find(Name);
  if (Found == Compiled.end())
    ADD_FAILURE() << Name << " is none of the programs";
  else
    EXPECT_TRUE(Found->second.succeeded()) << Name << ": " << Found->second.Stderr;
  return workDir() + "/" + Name;
}

// Programs lie in the same directory, and some have the same name.
Project::Project(const std::string &Name) : Dir(workDir() + "/project-" + Name) {
  EXPECT_FALSE(llvm::sys::fs::create_directories(Dir));
}

CommandResult Project::inProject(Words Argv, const std::string &Run) {
  llvm::sys::fs::remove(path("log"));
  return run(std::move(Argv), {"CARVE_STORE=" + path("store"), "CARVE_RUN=" + Run,
                               "CARVE_LOG=" + path("log"), "CARVE_NVCC=" + machine().T.Nvcc});
}

CommandResult Project::compile(Words Arguments, const std::string &Run) {
  Arguments.insert(Arguments.begin(), machine().tool("carve-nvcc"));
  CommandResult Result = inProject(std::move(Arguments), Run);
  EXPECT_EQ(Result.ExitStatus, 0) << Result.Stderr;
  EXPECT_EQ(Result.Stdout + Result.Stderr, "");
  return Result;
}

CommandResult Project::carve(Words Arguments) {
  Arguments.insert(Arguments.begin(), machine().tool("carve"));
  return inProject(std::move(Arguments), "none");
}

TuningReport Project::report() const {
  std::optional<std::string> Text = valueOf(store().lastReport());
  if (Text)
    return valueOf(parseJsonReport(*Text, "report"));
  ADD_FAILURE() << "no tuning was made: " << log();
  return {};
}

std::string Project::log() const {
  return llvm::sys::fs::exists(path("log")) ? valueOf(readFile(path("log"))) : "";
}

RunRecord carve::test::runProbed(Words Argv, const ImageMap &Images,
                                 const probe::TimeStretch &Stretch) {
  WorkloadSpec Spec;
  Spec.Argv = std::move(Argv);
  Spec.Dir = workDir();
  Spec.TimeoutS = 60;
  ProcessRunner Runner;
  return valueOf(runWorkload(Spec, machine().Probe, Images, Runner, Stretch));
}

std::map<std::string, uint64_t> carve::test::launchesByName(const ProbeRecord &Record) {
  std::map<std::string, uint64_t> Launches;
  for (const KernelLaunches &K : Record.Kernels)
    Launches[llvm::StringRef(profileName(K.Kernel)).split('(').first.str()] += K.Launches;
  return Launches;
}

unsigned carve::test::registersOf(const ProbeRecord &Record, const std::string &Kernel) {
  std::set<unsigned> Seen;
  for (const KernelLaunches &K : Record.Kernels)
    if (K.Kernel == Kernel)
      Seen.insert(K.RegsPerThread);
  EXPECT_EQ(Seen.size(), 1u) << Kernel << ": " << testing::PrintToString(Seen);
  return Seen.size() == 1 ? *Seen.begin() : 0;
}
