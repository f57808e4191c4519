// Programs in situations that timing inside a run must handle or leave alone. `carve tune
// --mode=auto` must end, every run of the program on its way must do what the program does by
// itself, and the report must say how the kernel was timed and why. The test prints a line per
// program.
#include "GpuTesting.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"

#include <chrono>
#include <sstream>

using namespace carve;
using namespace carve::test;

namespace {

struct Hazard {
  std::string Program;
  /// The modes that are right for it. If empty, any mode is, because it depends on what the machine
  /// has left.
  std::set<std::string> Modes;
  std::string Reason = {}; ///< Part of the report's reason, if the kernel was not replayed.
  Words Options = {};
  int Status = 0;
};
std::ostream &operator<<(std::ostream &OS, const Hazard &H) { return OS << H.Program; }

const std::set<std::string> Replayed = {"replay"}, Inside = {"replay", "verify-rotate"},
                            NotReplayed = {"fixed", "rotate"}, Any = {};

std::vector<Hazard> hazards() {
  return {{"capture", Inside},
          {"graph", Inside},
          {"graph_updates", Inside},
          {"graph_memory", NotReplayed, "graphs with nodes that allocate or free memory"},
          {"cooperative", Inside},
          {"cluster", Replayed},
          {"programmatic", Replayed, "programmatic"},
          {"programmatic_graph", Replayed, "programmatic"},
          {"managed", NotReplayed},
          {"host_mapped", NotReplayed},
          {"host_hidden", NotReplayed},
          {"host_masked", NotReplayed},
          {"host_outside", NotReplayed},
          {"host_packed", NotReplayed},
          {"host_written", Any},
          {"managed_variable", NotReplayed, "", {"managed_variable_other.cu"}},
          {"linked_variable", Replayed, "", {"-L@/stubs", "-lcuda"}},
          {"access_thread", Any, "", {"-L@/stubs", "-lcuda"}},
          {"sandboxed", Replayed},
          {"cancelled", Any},
          {"ipc", NotReplayed, "other processes"},
          {"peers", NotReplayed, "each other's memory"},
          {"device_printf", NotReplayed, "printf"},
          {"device_malloc", NotReplayed, "allocates on the device"},
          {"device_launch", {"left", "fixed", "rotate"}, "", {"-rdc=true"}},
          {"persistent", Inside},
          {"spin_waiting", NotReplayed},
          {"host_waiting", NotReplayed},
          {"talking", NotReplayed},
          {"in_place", Replayed},
          {"float_atomics", Replayed},
          {"append", Replayed},
          {"surface", NotReplayed, "surfaces"},
          {"texture", Replayed},
          {"pool", Replayed},
          {"mapped", Replayed, "", {"-L@/stubs", "-lcuda"}},
          {"globals", Replayed},
          {"large_memory", Any},
          {"full_memory", Any},
          {"threads", Any},
          {"per_thread_stream", Any, "", {"--default-stream=per-thread"}},
          {"short_launches", {"verify-rotate", "rotate"}},
          {"exit_inside", Any, "", {}, 5},
          {"templates", Replayed},
          {"dynamic_smem", Replayed}};
}

class Hazards : public GpuTest, public testing::WithParamInterface<Hazard> {};

/// How a kernel was timed, according to the report.
struct Timed {
  std::string Mode, Reason;
};

} // namespace

/// Writes a script that runs \p App and keeps each run's output and status in a file of its own,
/// whose name begins with \p Kind. The output has what the shell says of a signal.
static std::string recordingScript(const Project &P, const std::string &App,
                                   const std::string &Kind) {
  std::string Path = P.path(Kind + ".sh");
  EXPECT_FALSE(writeFileAtomically(Path, "Out=" + P.path(Kind + "-") + "$$\n" + App +
                                             " > $Out 2>&1\nStatus=$?\ncat $Out\n"
                                             "echo \"status $Status\" >> $Out\nexit $Status\n"));
  return Path;
}

/// Returns what all runs of recordingScript() with \p Kind have left.
static Words recordedRuns(const Project &P, const std::string &Kind) {
  Words Runs;
  std::error_code Failed;
  for (llvm::sys::fs::directory_iterator I(P.path(""), Failed), E; I != E && !Failed;
       I.increment(Failed))
    if (llvm::StringRef(I->path()).contains("/" + Kind + "-"))
      Runs.push_back(valueOf(readFile(I->path())));
  return Runs;
}

/// Returns how the kernel `hot` with the largest share was timed.
static Timed timingOfHot(const Project &P) {
  std::optional<std::string> Text = valueOf(P.store().lastReport());
  if (!Text) {
    ADD_FAILURE() << "no report: " << P.log();
    return {};
  }
  llvm::Expected<llvm::json::Value> Parsed = llvm::json::parse(*Text);
  if (!Parsed) {
    ADD_FAILURE() << llvm::toString(Parsed.takeError());
    return {};
  }
  llvm::json::Value Report = std::move(*Parsed);
  const llvm::json::Array *Kernels =
      Report.getAsObject() ? Report.getAsObject()->getArray("kernels") : nullptr;
  if (!Kernels)
    return {};
  for (const llvm::json::Value &K : *Kernels) {
    const llvm::json::Object *Kernel = K.getAsObject();
    if (!Kernel || !Kernel->getString("kernel").value_or("").contains("hot"))
      continue;
    if (const llvm::json::Object *InRun = Kernel->getObject("in-run"))
      return {InRun->getString("mode").value_or("").str(),
              InRun->getString("mode-reason").value_or("").str()};
    return {"left", Kernel->getString("reason").value_or("").str()};
  }
  return {};
}

/// Returns what \p App does by itself: all outcomes of one run, or of many runs if its end is left
/// to chance. A driver that is shut down during a launch crashes now and then, without any code of
/// carve-nvcc.
static std::set<std::string> plainOutcomes(const Project &P, const std::string &App,
                                           unsigned Runs) {
  std::string Script = recordingScript(P, App, "plain");
  for (unsigned Run = 0; Run < Runs; ++Run)
    run({"/bin/sh", Script});
  Words Outcomes = recordedRuns(P, "plain");
  return {Outcomes.begin(), Outcomes.end()};
}

/// Checks that every run that was not ended because of a variant is one of \p Plain. Returns how
/// many were ended.
static unsigned checkRuns(const Words &Runs, const std::set<std::string> &Plain) {
  unsigned Ended = 0;
  for (const std::string &Run : Runs) {
    if (llvm::StringRef(Run).ends_with("status 97\n"))
      ++Ended;
    else
      EXPECT_EQ(Plain.count(Run), 1u) << Run << "instead of " << testing::PrintToString(Plain);
  }
  return Ended;
}

TEST_P(Hazards, tunedProgram_doesWhatItDoesByItself) {
  const Hazard &H = GetParam();
  Project P("hazard-" + H.Program);
  std::string App = P.path("app");
  Words Build = {"-O2", "-arch=" + TestArch,
                 machine().Sources + "/apps/hazards/" + H.Program + ".cu", "-o", App};
  for (const std::string &Option : H.Options) {
    size_t At = Option.find('@');
    if (llvm::StringRef(Option).ends_with(".cu")) {
      Build.push_back(machine().Sources + "/apps/hazards/" + Option);
      continue;
    }
    Build.push_back(At == Option.npos ? Option
                                      : Option.substr(0, At) + machine().T.BinDir + "/../lib64" +
                                            Option.substr(At + 1));
  }
  P.compile(Build);
  std::set<std::string> Plain = plainOutcomes(P, App, H.Status != 0 ? 30 : 1);
  const std::string End = "status " + std::to_string(H.Status) + "\n";
  ASSERT_TRUE(llvm::any_of(Plain, [&](const std::string &Outcome) {
    return llvm::StringRef(Outcome).ends_with(End);
  })) << testing::PrintToString(Plain);
  const std::string &First = *Plain.begin();
  if (H.Program == "peers" && llvm::StringRef(First).contains("one GPU"))
    GTEST_SKIP() << First;
  if (H.Program == "ipc" && llvm::StringRef(First).contains("no memory is shared"))
    GTEST_SKIP() << First;

  auto Begin = std::chrono::steady_clock::now();
  // The program's own status must not end the tuning.
  std::string Script = recordingScript(P, App, "run");
  if (H.Status != 0) {
    ASSERT_FALSE(writeFileAtomically(P.path("any.sh"), "/bin/sh " + Script + " || true\n"));
  }
  Words Tune = {"tune",
                "--mode=auto",
                "--max-runs=24",
                "--timeout=60",
                "--",
                "/bin/sh",
                H.Status ? P.path("any.sh") : Script};
  CommandResult Tuned = P.carve(Tune);
  double Seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - Begin).count();

  EXPECT_EQ(Tuned.ExitStatus, 0) << Tuned.Stderr << P.log();
  Words Runs = recordedRuns(P, "run");
  EXPECT_GE(Runs.size(), H.Modes.count("left") ? 1u : 2u);
  bool Failed = testing::Test::HasFailure();
  unsigned Ended = checkRuns(Runs, Plain);
  bool Equal = Failed || !testing::Test::HasFailure();
  Timed Hot = timingOfHot(P);
  EXPECT_NE(Hot.Mode, "") << "the report does not say how the kernel was timed";
  // A kernel that its rounds do not decide was timed inside the program, and is left to whole runs.
  bool LeftByRounds = H.Modes.count("replay") > 0 &&
                      llvm::StringRef(Hot.Reason).starts_with("the rounds do not decide");
  EXPECT_TRUE(H.Modes.empty() || H.Modes.count(Hot.Mode) || LeftByRounds)
      << Hot.Mode << ": " << Hot.Reason;
  EXPECT_TRUE(llvm::StringRef(Hot.Reason).contains(H.Reason)) << Hot.Reason;
  EXPECT_NE(Hot.Reason, "");
  std::printf("hazard\t%s\t%s\t%s\t%s\t%u ended\t%.1f s\n", H.Program.c_str(), Hot.Mode.c_str(),
              Hot.Reason.c_str(), Equal ? "equal" : "DIFFERS", Ended, Seconds);
  std::fflush(stdout);
}

INSTANTIATE_TEST_SUITE_P(All, Hazards, testing::ValuesIn(hazards()),
                         [](const auto &Info) { return Info.param.Program; });

namespace {
class GraphHazards : public GpuTest, public testing::WithParamInterface<unsigned> {};
} // namespace

/// Returns by how many bytes the memory in use has grown in each run that has left a line in
/// \p Path.
static std::vector<int64_t> memoryGrowth(const std::string &Path) {
  std::vector<int64_t> Growth;
  std::istringstream Lines(valueOf(readFile(Path)));
  int64_t Early = 0, Late = 0;
  for (std::string Rest; Lines >> Early >> Late && std::getline(Lines, Rest);)
    Growth.push_back(Late - Early);
  return Growth;
}

/// Random graphs, of which some stay graphs in timing runs with the larger parameter.
TEST_P(GraphHazards, tunedProgramWithRandomGraphs_computesTheSameInEveryRun) {
  const std::string Uses = std::to_string(GetParam());
  Project P("random-graphs-" + Uses);
  std::string App = P.path("app");
  P.compile({"-O2", "-arch=" + TestArch, machine().Sources + "/apps/random_graphs.cu", "-o", App});
  auto Command = [&](const std::string &Memory) {
    return App + " 1 200 " + Uses + " " + P.path(Memory);
  };
  std::set<std::string> Plain = plainOutcomes(P, Command("plain.memory"), 2);
  ASSERT_EQ(Plain.size(), 1u) << testing::PrintToString(Plain);
  const std::string &Output = *Plain.begin();
  ASSERT_TRUE(llvm::StringRef(Output).ends_with("status 0\n")) << Output;
  EXPECT_EQ(llvm::StringRef(Output).count("graph "), 200u);
  bool Refuses = llvm::StringRef(Output).count(", 0 refused") != 200;

  std::string Script = recordingScript(P, Command("run.memory"), "run");
  CommandResult Tuned =
      P.carve({"tune", "--mode=auto", "--max-runs=24", "--timeout=120", "--", "/bin/sh", Script});
  EXPECT_EQ(Tuned.ExitStatus, 0) << Tuned.Stderr << P.log();
  Words Runs = recordedRuns(P, "run");
  EXPECT_GE(Runs.size(), 2u);
  unsigned Ended = checkRuns(Runs, Plain);
  Timed Hot = timingOfHot(P);
  // After a change that the driver refuses, nobody knows what a graph holds.
  const std::set<std::string> &Modes = Refuses ? Any : GetParam() == 5 ? Inside : NotReplayed;
  EXPECT_TRUE(Modes.empty() || Modes.count(Hot.Mode)) << Hot.Mode << ": " << Hot.Reason;
  // A replay keeps memory for its snapshots. What a graph leaves behind would add up.
  constexpr int64_t MostBytes = 64 << 20;
  std::vector<int64_t> Plainly = memoryGrowth(P.path("plain.memory"));
  ASSERT_FALSE(Plainly.empty());
  for (int64_t Bytes : memoryGrowth(P.path("run.memory")))
    EXPECT_LE(Bytes, Plainly.front() + MostBytes);
  std::printf("random-graphs\t%s uses\t%s\t%s\t%s\t%u ended\t%lld bytes more plainly\n",
              Uses.c_str(), Hot.Mode.c_str(), Hot.Reason.c_str(), Refuses ? "refuses" : "takes all",
              Ended, static_cast<long long>(Plainly.front()));
  std::fflush(stdout);
}

INSTANTIATE_TEST_SUITE_P(All, GraphHazards, testing::Values(5u, 7u));
