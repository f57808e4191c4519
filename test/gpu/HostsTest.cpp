// Hosts other than a main program, and several at once: Python with a shared object, ranks of a
// launcher, programs that fork, shared objects that are loaded later, and GPUs that others use as
// well.
#include "GpuTesting.h"
#include "Store/StoreUpkeep.h"

#include "Workload/VisibleGpus.h"
#include "Workload/WorkloadProcesses.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"

#include <csignal>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace carve;
using namespace carve::test;

namespace {

const std::string Arch = "-arch=" + TestArch;

class Hosts : public GpuTest {
protected:
  static std::string source(const std::string &Name) { return machine().Sources + "/apps/" + Name; }
  static Words environmentOf(const Project &P, const std::string &Log) {
    return {"CARVE_STORE=" + P.path("store"), "CARVE_RUN=none", "CARVE_LOG=" + P.path(Log),
            "CARVE_NVCC=" + machine().T.Nvcc};
  }
  /// Tunes with \p Workload, which must find a winner for the pressed kernel. It has no further
  /// entry: the kernel itself is what checkRuns() looks for.
  static TuningReport tune(Project &P, Words Workload) {
    Workload.insert(Workload.begin(), {"tune", "--entries=off", "--"});
    CommandResult Tuned = P.carve(Workload);
    EXPECT_EQ(Tuned.ExitStatus, 0) << Tuned.Stderr << P.log();
    TuningReport Report = P.report();
    EXPECT_EQ(Report.Note, "");
    EXPECT_EQ(Report.tunedKernels(), 1u) << P.log();
    return Report;
  }
  /// Checks that \p Argv runs the tuned kernel of \p Report in all its processes and prints
  /// \p Stdout, with its lines in any order.
  static void checkRuns(const Words &Argv, const TuningReport &Report, const std::string &Stdout) {
    RunRecord Run = runProbed(Argv);
    EXPECT_EQ(Run.Output.ExitStatus, 0) << Run.Stderr;
    EXPECT_EQ(sortedLines(Run.Output.Stdout), sortedLines(Stdout));
    EXPECT_EQ(Run.Probe.whyIncomplete(), std::nullopt);
    for (const KernelReport &K : Report.Kernels)
      if (K.Tuned) {
        EXPECT_EQ(registersOf(Run.Probe, K.Mangled), K.RegsAfter) << K.Kernel;
      }
  }
  static Words sortedLines(const std::string &Text) {
    llvm::SmallVector<llvm::StringRef> Lines;
    llvm::StringRef(Text).split(Lines, '\n');
    Words Sorted(Lines.begin(), Lines.end());
    llvm::sort(Sorted);
    return Sorted;
  }
};

} // namespace

TEST_F(Hosts, pythonWithASharedObject_isTuned) {
  if (!llvm::sys::findProgramByName("python3"))
    GTEST_SKIP() << "no python3 here";
  Project P("python");
  const std::string Library = P.path("liblibrary.so");
  const Words Build = {"-O2",   Arch, "-shared", "-Xcompiler",
                       "-fPIC", "-o", Library,   source("library.cu")};
  P.compile(Build, "auto");
  EXPECT_EQ(storeStats(P.store()).Reports, 0u) << "a shared object was run: " << P.log();
  ASSERT_FALSE(writeFileAtomically(P.path("host.py"), "import ctypes\nctypes.CDLL('" + Library +
                                                          "').runLibrary(20)\n"));
  const Words Host = {"python3", P.path("host.py")};
  CommandResult Plain = run(Host);
  ASSERT_EQ(Plain.ExitStatus, 0) << Plain.Stderr;
  TuningReport Report = tune(P, Host);
  EXPECT_EQ(Report.Processes, 1u);
  P.compile(Build, "auto");
  checkRuns(Host, Report, Plain.Stdout);
}

TEST_F(Hosts, libraryClosedAndLoadedAgain_isTuned) {
  if (!llvm::sys::findProgramByName("python3"))
    GTEST_SKIP() << "no python3 here";
  std::string Script = "import ctypes, _ctypes\nfor i in range(2):\n    l = ctypes.CDLL('" +
                       program("library.so") +
                       "')\n    l.runLibrary(20)\n    _ctypes.dlclose(l._handle)\n";
  const Words Host = {"python3", "-c", Script};
  CommandResult Plain = run(Host);
  if (Plain.ExitStatus != 0)
    GTEST_SKIP() << "the runtime cannot be unloaded here: " << Plain.Stderr;
  RunRecord Run = runProbed(Host);
  EXPECT_EQ(Run.Output.ExitStatus, 0) << Run.Stderr;
  EXPECT_EQ(Run.Output.Stdout, Plain.Stdout);
  EXPECT_EQ(Run.Probe.whyIncomplete(), std::nullopt);
  EXPECT_EQ(launchesByName(Run.Probe)["pressed"], 40u);
}

TEST_F(Hosts, ranksOfALauncher_areTuned) {
  Project P("ranks");
  const Words Build = {"-O2", Arch, "-o", P.path("app"), source("ranked.cu")};
  P.compile(Build);
  const Words Launch = {program("ranks"), "4", P.path("app")};
  CommandResult Plain = run(Launch);
  ASSERT_EQ(Plain.ExitStatus, 0) << Plain.Stderr;
  TuningReport Report = tune(P, Launch);
  EXPECT_EQ(Report.Processes, 4u);
  EXPECT_GE(Report.Gpus, 1u);
  EXPECT_LE(Report.Gpus, 4u);
  EXPECT_EQ(Report.Kernels.front().Launches, 80u);
  P.compile(Build);
  checkRuns(Launch, Report, Plain.Stdout);
}

TEST_F(Hosts, sharedObjectLoadedLater_isTuned) {
  Project P("later");
  const std::string Library = P.path("later.so");
  const Words Build = {"-O2",   Arch, "-shared", "-Xcompiler",
                       "-fPIC", "-o", Library,   source("library.cu")};
  P.compile(Build);
  const Words Host = {program("plugin_main"), Library};
  CommandResult Plain = run(Host);
  ASSERT_EQ(Plain.ExitStatus, 0) << Plain.Stderr;
  TuningReport Report = tune(P, Host);
  P.compile(Build);
  checkRuns(Host, Report, Plain.Stdout);
}

TEST_F(Hosts, forksBeforeAndAfterCuda_areTuned) {
  struct Case {
    const char *How;
    unsigned Processes;
    uint64_t Launches;
  };
  for (const Case &C : {Case{"before", 3, 17}, Case{"after", 1, 7}, Case{"daemon", 1, 7}}) {
    SCOPED_TRACE(C.How);
    Words Argv = {program("forks"), C.How};
    RunRecord Run = runProbed(Argv);
    EXPECT_EQ(Run.Output.ExitStatus, 0) << Run.Stderr;
    EXPECT_EQ(Run.Output.Stdout, run(Argv).Stdout);
    EXPECT_EQ(Run.Probe.Processes, C.Processes);
    EXPECT_EQ(Run.Probe.whyIncomplete(), std::nullopt);
    EXPECT_EQ(launchesByName(Run.Probe)["work"], C.Launches);
  }
}

TEST_F(Hosts, clearedEnvironment_isNamed) {
  Project P("cleared");
  CommandResult Tuned = P.carve({"tune", "--", "env", "-i", program("basic")});
  EXPECT_EQ(Tuned.ExitStatus, 1);
  EXPECT_NE(Tuned.Stderr.find("no process of it initialised CUDA under the probe"),
            std::string::npos)
      << Tuned.Stderr;
}

TEST_F(Hosts, interrupt_endsAllRanks) {
  Project P("interrupted");
  std::string App = P.path("app"), Mark = "CARVE_TEST_MARK=" + P.path("");
  P.compile({"-O2", Arch, "-o", App, source("ranked.cu")});
  std::string Ranks = program("ranks"), Carve = machine().tool("carve");
  pid_t Pid = ::fork();
  if (Pid == 0) {
    ::setenv("CARVE_TEST_MARK", P.path("").c_str(), 1);
    ::setenv("CARVE_STORE", P.path("store").c_str(), 1);
    ::setenv("CARVE_NVCC", machine().T.Nvcc.c_str(), 1);
    ::execl(Carve.c_str(), "carve", "tune", "--", Ranks.c_str(), "4", App.c_str(), "hang", nullptr);
    ::_exit(127);
  }
  for (int I = 0; I < 3000 && processesWith(Mark).size() < 6; ++I)
    ::usleep(10000); // These are carve, the launcher and four ranks.
  EXPECT_EQ(processesWith(Mark).size(), 6u);
  ::usleep(1000000);
  ::kill(Pid, SIGINT);
  int Status = 0;
  ::waitpid(Pid, &Status, 0);
  EXPECT_TRUE(WIFSIGNALED(Status) && WTERMSIG(Status) == SIGINT) << Status;
  for (int I = 0; I < 200 && !processesWith(Mark).empty(); ++I)
    ::usleep(10000);
  EXPECT_TRUE(processesWith(Mark).empty());
}

TEST_F(Hosts, otherProcessOnTheGpu_isReported) {
  Project P("disturbed");
  P.compile({"-O2", Arch, "-o", P.path("app"), source("pressed.cu")});
  std::string Busy = program("forks");
  pid_t Other = ::fork();
  if (Other == 0) {
    ::execl(Busy.c_str(), "forks", "busy", "120", nullptr);
    ::_exit(127);
  }
  ::usleep(3000000);
  CommandResult Listed = run({"nvidia-smi", "--query-compute-apps=pid", "--format=csv,noheader"});
  CommandResult Tuned = P.carve({"tune", "--max-runs=20", "--", P.path("app")});
  ::kill(Other, SIGKILL);
  ::waitpid(Other, nullptr, 0);
  EXPECT_EQ(Tuned.ExitStatus, 0) << Tuned.Stderr;
  if (Listed.Stdout.find(std::to_string(Other)) == std::string::npos)
    GTEST_SKIP() << "the driver does not list processes here: '" << Listed.Stdout << "'";
  TuningReport Report = P.report();
  auto User =
      llvm::find_if(Report.OtherUsers, [&](const GpuUser &U) { return U.Pid == unsigned(Other); });
  ASSERT_NE(User, Report.OtherUsers.end()) << P.log();
  EXPECT_EQ(User->Name, "forks");
  EXPECT_NE(User->BusyPercent, 0u);
  EXPECT_NE(Tuned.Stdout.find("another process uses this GPU: pid " + std::to_string(Other)),
            std::string::npos)
      << Tuned.Stdout;
}

/// Runs two tunings, each with the GPUs that its \p Visible names. Returns what they logged.
static std::vector<std::string> tuneTwice(Project &P, const Words &Visible) {
  std::vector<CommandResult> Results(2);
  std::vector<std::thread> Threads;
  for (size_t I = 0; I < 2; ++I)
    Threads.emplace_back([&, I] {
      Words Environment = {"CARVE_STORE=" + P.path("store"),
                           "CARVE_LOG=" + P.path("log" + std::to_string(I)),
                           "CARVE_NVCC=" + machine().T.Nvcc};
      if (!Visible.empty())
        Environment.push_back("CUDA_VISIBLE_DEVICES=" + Visible[I]);
      Results[I] =
          run({machine().tool("carve"), "tune", "--max-runs=30", "--", P.path("app")}, Environment);
    });
  for (std::thread &T : Threads)
    T.join();
  std::vector<std::string> Logs;
  for (size_t I = 0; I < 2; ++I) {
    EXPECT_EQ(Results[I].ExitStatus, 0) << Results[I].Stderr;
    Logs.push_back(valueOf(readFile(P.path("log" + std::to_string(I)))));
  }
  return Logs;
}

TEST_F(Hosts, tuningsOfOneGpu_waitForEachOther) {
  Project P("one-gpu");
  P.compile({"-O2", Arch, "-o", P.path("app"), source("pressed.cu")});
  std::vector<std::string> Logs = tuneTwice(P, {});
  EXPECT_NE((Logs[0] + Logs[1]).find("waiting for GPU "), std::string::npos);
}

TEST_F(Hosts, tuningsOfTwoGpus_runAtOnce) {
  std::vector<SystemGpu> Gpus = systemGpus("/proc/driver/nvidia/gpus", "/dev");
  if (Gpus.size() < 2 || Gpus[0].Uuid.empty() || Gpus[1].Uuid.empty())
    GTEST_SKIP() << Gpus.size() << " GPU(s) here";
  Project P("two-gpus");
  P.compile({"-O2", Arch, "-o", P.path("app"), source("pressed.cu")});
  std::vector<std::string> Logs = tuneTwice(P, {Gpus[0].Uuid, Gpus[1].Uuid});
  EXPECT_EQ((Logs[0] + Logs[1]).find("waiting for GPU "), std::string::npos);
}
