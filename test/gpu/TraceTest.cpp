// The probe's records of real programs on a real GPU. The programs must not notice the probe.
#include "GpuTesting.h"

#include "Device/DeviceModel.h"
#include "Ptx/ProfileName.h"
#include "Support/Digest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <csignal>
#include <cstdio>

using namespace carve;
using namespace carve::test;

namespace {

/// A program that ends normally, and what its trace must say.
struct TraceCase {
  std::string Name;
  Words Argv; ///< The first word is a program of the table; a later `@NAME` is a file of it.
  std::map<std::string, uint64_t> Launches;
  unsigned Processes = 1, Containers = 1;
  Words Environment = {};
};

std::ostream &operator<<(std::ostream &OS, const TraceCase &C) { return OS << C.Name; }

Words commandOf(const TraceCase &C) {
  Words Argv = {"env"};
  Argv.insert(Argv.end(), C.Environment.begin(), C.Environment.end());
  Argv.push_back(program(C.Argv.front()));
  for (const std::string &Word : llvm::drop_begin(C.Argv))
    Argv.push_back(Word[0] == '@' ? program(Word.substr(1)) : Word);
  return Argv;
}

const KernelLaunches &onlyKernel(const ProbeRecord &Record) {
  static const KernelLaunches None;
  EXPECT_EQ(Record.Kernels.size(), 1u);
  return Record.Kernels.empty() ? None : Record.Kernels.front();
}

/// Returns \p Kernels with the names of the source, without parameters.
std::set<std::string> sourceNames(const std::set<std::string> &Kernels) {
  std::set<std::string> Names;
  for (const std::string &Kernel : Kernels)
    Names.insert(llvm::StringRef(profileName(Kernel)).split('(').first.str());
  return Names;
}

class Trace : public GpuTest, public testing::WithParamInterface<TraceCase> {};
class TraceOf : public GpuTest {};

} // namespace

TEST_P(Trace, trace_isWholeAndTheProgramTheSame) {
  const TraceCase &Case = GetParam();
  Words Argv = commandOf(Case);
  CommandResult Plain = run(Argv);
  ASSERT_EQ(Plain.ExitStatus, 0) << Plain.Stderr;
  RunRecord Traced = runProbed(Argv);
  EXPECT_EQ(Traced.Output.ExitStatus, 0);
  EXPECT_EQ(Traced.Output.Stdout, Plain.Stdout);
  EXPECT_EQ(Traced.Stderr, Plain.Stderr);

  const ProbeRecord &Record = Traced.Probe;
  EXPECT_EQ(Record.Processes, Case.Processes);
  EXPECT_EQ(Record.Incomplete, 0u);
  EXPECT_EQ(Record.Dropped, 0u);
  EXPECT_EQ(Record.Aside, std::set<std::string>());
  EXPECT_EQ(Record.Devices.size(), 1u);
  EXPECT_EQ(Record.Containers.size(), Case.Containers);
  EXPECT_GE(Record.Modules.size(), Case.Containers);
  EXPECT_EQ(Record.Swapped.size() + Record.Unswapped.size(), 0u);
  EXPECT_EQ(launchesByName(Record), Case.Launches);
  for (const KernelLaunches &K : Record.Kernels) {
    EXPECT_GT(K.RegsPerThread, 0u) << K.Kernel;
    EXPECT_GT(K.MinNs, 0u) << K.Kernel;
    EXPECT_GE(K.TotalNs, K.MinNs * K.Launches) << K.Kernel;
    EXPECT_GT(K.Shape.threadsPerBlock(), 1u) << K.Kernel;
  }
}

static const Words Eager = {"CUDA_MODULE_LOADING=EAGER"}, Lazy = {"CUDA_MODULE_LOADING=LAZY"};

INSTANTIATE_TEST_SUITE_P(
    All, Trace,
    testing::Values(
        TraceCase{"Lazy", {"basic"}, {{"scale", 20}, {"mix", 20}}, 1, 1, Lazy},
        TraceCase{"Eager", {"basic"}, {{"scale", 20}, {"mix", 20}}, 1, 1, Eager},
        TraceCase{"SharedLazy", {"basic_shared"}, {{"scale", 20}, {"mix", 20}}, 1, 1, Lazy},
        TraceCase{"SharedEager", {"basic_shared"}, {{"scale", 20}, {"mix", 20}}, 1, 1, Eager},
        TraceCase{"Cooperative", {"cooperative"}, {{"relax", 5}}},
        TraceCase{"Cluster", {"cluster"}, {{"rotate", 5}}},
        TraceCase{"DynamicSmem", {"dynamic_smem"}, {{"reverse", 5}}},
        TraceCase{"Graph", {"graph"}, {{"captured", 30}, {"added", 10}}},
        TraceCase{"Sharing", {"sharing", "all"}, {{"work", 2}, {"follows", 1}}},
        TraceCase{"Streams", {"streams"}, {{"work", 100}}},
        TraceCase{"TwoModules", {"two_modules"}, {{"first", 10}, {"second", 10}}, 1, 2},
        TraceCase{"TwoModulesEager", {"two_modules"}, {{"first", 10}, {"second", 10}}, 1, 2, Eager},
        TraceCase{
            "Plugin", {"plugin_main", "@plugin.so"}, {{"host", 1}, {"pluginKernel", 8}}, 1, 2},
        TraceCase{"Occupancy", {"occupancy"}, {{"queried", 10}, {"notQueried", 10}}},
        TraceCase{"Processes", {"processes"}, {{"work", 13}}, 3, 1}),
    [](const auto &Info) { return Info.param.Name; });

TEST_F(TraceOf, modulesOfTheDriver_areRecorded) {
  std::string Cubin = valueOf(readFile(program("driver.cubin")));
  for (const char *Image : {"driver.cubin", "driver.fatbin"})
    for (Words Mode : {Words{}, Words{"file"}}) {
      Words Argv = {program("driver_module"), program(Image)};
      Argv.insert(Argv.end(), Mode.begin(), Mode.end());
      RunRecord Run = runProbed(Argv);
      EXPECT_EQ(Run.Output.ExitStatus, 0) << Run.Stderr;
      EXPECT_EQ(Run.Output.Stdout, run(Argv).Stdout);
      EXPECT_EQ(launchesByName(Run.Probe)["driverKernel"], 6u);
      EXPECT_EQ(Run.Probe.Incomplete, 0u);
      EXPECT_TRUE(Run.Probe.Containers.count(digestOf(valueOf(readFile(program(Image))))))
          << Image << " " << testing::PrintToString(Mode);
      EXPECT_TRUE(Run.Probe.Modules.count(digestOf(Cubin))) << Image;
    }
}

TEST_F(TraceOf, launchAttributes_areRecorded) {
  const KernelLaunches Cooperative = onlyKernel(runProbed({program("cooperative")}).Probe);
  EXPECT_TRUE(Cooperative.Cooperative);
  const KernelLaunches Cluster = onlyKernel(runProbed({program("cluster")}).Probe);
  EXPECT_EQ(Cluster.Shape.Cluster, (std::array<unsigned, 3>{4, 1, 1}));
  EXPECT_FALSE(Cluster.Cooperative);
  const KernelLaunches Dynamic = onlyKernel(runProbed({program("dynamic_smem")}).Probe);
  EXPECT_EQ(Dynamic.Shape.DynamicSmemBytes, 80'000u);
  EXPECT_EQ(Dynamic.Shape.Grid, (std::array<unsigned, 3>{64, 1, 1}));
  EXPECT_EQ(Dynamic.Shape.Block, (std::array<unsigned, 3>{1024, 1, 1}));
}

TEST_F(TraceOf, queriedKernels_areRecorded) {
  EXPECT_EQ(sourceNames(runProbed({program("occupancy")}).Probe.Queried),
            (std::set<std::string>{"queried"}));
  EXPECT_EQ(sourceNames(runProbed({program("basic")}).Probe.Queried), std::set<std::string>());
}

TEST_F(TraceOf, launchesOfGraphs_areCounted) {
  std::map<std::string, uint64_t> Launches;
  ProbeRecord Probe = runProbed({program("graph")}).Probe;
  EXPECT_TRUE(Probe.StayingGraphs.empty());
  EXPECT_EQ(Probe.graphShare(), 1);
  for (const auto &[Kernel, Count] : Probe.GraphLaunches)
    Launches[llvm::StringRef(profileName(Kernel)).split('(').first.str()] += Count;
  EXPECT_EQ(Launches, (std::map<std::string, uint64_t>{{"captured", 30}, {"added", 10}}));
  EXPECT_TRUE(runProbed({program("streams")}).Probe.GraphLaunches.empty());
}

TEST_F(TraceOf, hazards_areRecorded) {
  // What the runtime does by itself is no hazard.
  ProbeRecord Plain = runProbed({program("sharing"), "plain"}).Probe;
  EXPECT_EQ(Plain.Hazards, (std::map<HazardKind, std::set<std::string>>()));
  EXPECT_EQ(Plain.Programmatic, std::set<std::string>());
  ProbeRecord All = runProbed({program("sharing"), "all"}).Probe;
  EXPECT_EQ(sourceNames(All.Programmatic), std::set<std::string>{"follows"});
  for (HazardKind Kind : {HazardKind::Managed, HazardKind::HostMapped, HazardKind::Ipc,
                          HazardKind::Capture, HazardKind::Array})
    EXPECT_EQ(All.Hazards.count(Kind), 1u) << wordOf(Kind);
  EXPECT_EQ(All.Hazards.count(HazardKind::Peer) + All.Hazards.count(HazardKind::Gpus), 0u);
}

TEST_F(TraceOf, stretchedRun_changesNothingElse) {
  for (const char *Name : {"basic", "streams", "captured"}) {
    SCOPED_TRACE(Name);
    RunRecord First = runProbed({program(Name)});
    RunRecord Stretched = runProbed({program(Name)}, {}, revealingStretch(First));
    EXPECT_EQ(Stretched.Output.Stdout, First.Output.Stdout);
    EXPECT_EQ(launchesByName(Stretched.Probe), launchesByName(First.Probe));
    // Of a graph only the launch as a whole is held back, which is less.
    if (Name == llvm::StringRef("basic")) {
      EXPECT_GT(Stretched.WallS, First.WallS);
    }
  }
}

/// The GPU is busy all the time, so nothing that holds a launch back would show. In this program
/// the probe tells of events first, by the least share.
TEST_F(TraceOf, stretchedRun_makesAveragesOfAsynchronousLaunchesLonger) {
  RunRecord First = runProbed({program("averages")});
  RunRecord Stretched = runProbed({program("averages")}, {}, revealingStretch(First));
  OutputReference Reference;
  Reference.addDefault(First.Output);
  Reference.addDefault(Stretched.Output);
  EXPECT_EQ(Reference.unstableLines(), 2u) << First.Output.Stdout << Stretched.Output.Stdout;
  auto Time = [](const RunRecord &Run, const char *Format) {
    double Us = 0;
    llvm::StringRef Text = Run.Output.Stdout;
    llvm::StringRef Word = llvm::StringRef(Format).split(' ').first;
    EXPECT_EQ(std::sscanf(Text.substr(Text.find(Word)).str().c_str(), Format, &Us), 1)
        << Text.str();
    return Us;
  };
  for (const char *Format : {"host %lf", "events %lf"})
    EXPECT_GT(Time(Stretched, Format), Time(First, Format) * 1.04) << Format;
}

TEST_F(TraceOf, programWithoutGpu_leavesNoRecord) {
  RunRecord Run = runProbed({program("no_gpu")});
  EXPECT_EQ(Run.Output.Stdout, "no_gpu checksum=0\n");
  EXPECT_EQ(Run.Output.ExitStatus, 0);
  EXPECT_EQ(Run.Probe.Processes, 0u);
}

/// The device table must contain what the driver says.
TEST_F(TraceOf, device_equalsTheTable) {
  ProbeRecord Record = runProbed({program("basic")}).Probe;
  ASSERT_EQ(Record.Devices.size(), 1u);
  const DeviceInfo &D = Record.Devices.front();
  EXPECT_EQ(D.arch(), TestArch);
  DeviceModel Model = valueOf(loadDeviceModel(machine().devicesDir(), D.arch()));
  EXPECT_EQ(Model.MaxThreadsPerSm, D.ThreadsPerSm);
  EXPECT_EQ(Model.MaxBlocksPerSm, D.BlocksPerSm);
  EXPECT_EQ(Model.RegsPerSm, D.RegsPerSm);
  EXPECT_EQ(Model.RegsPerBlock, D.RegsPerBlock);
  EXPECT_EQ(Model.SmemPerSmBytes, D.SmemPerSmBytes);
  EXPECT_EQ(Model.SmemPerBlockBytes, D.SmemPerBlockBytes);
  EXPECT_EQ(Model.SmemPerBlockOptinBytes, D.SmemPerBlockOptinBytes);
  EXPECT_EQ(Model.ReservedSmemPerBlockBytes, D.ReservedSmemPerBlockBytes);
}

namespace {
struct Ending {
  std::string How;
  int ExitStatus;
  bool Whole = true;
};
std::ostream &operator<<(std::ostream &OS, const Ending &E) { return OS << E.How; }

class TraceEnding : public GpuTest, public testing::WithParamInterface<Ending> {};
} // namespace

TEST_P(TraceEnding, ending_keepsTheStatusAndTheRecords) {
  const Ending &Wanted = GetParam();
  Words Argv = {program("endings"), Wanted.How};
  CommandResult Plain = run(Argv);
  RunRecord Traced = runProbed(Argv);
  EXPECT_EQ(Plain.ExitStatus, Wanted.ExitStatus);
  EXPECT_EQ(Traced.Output.ExitStatus, Wanted.ExitStatus);
  EXPECT_EQ(Traced.Output.Stdout, Plain.Stdout);
  EXPECT_EQ(Traced.Probe.Processes, 1u);
  EXPECT_EQ(Traced.Probe.Incomplete, Wanted.Whole ? 0u : 1u);
  EXPECT_EQ(Traced.Probe.Dropped, 0u);
  // A program that is killed at once may not have delivered anything.
  uint64_t Launches = launchesByName(Traced.Probe)["work"];
  EXPECT_TRUE(Launches == 7 || (Wanted.How == "kill" && Launches == 0)) << Launches;
}

INSTANTIATE_TEST_SUITE_P(All, TraceEnding,
                         testing::Values(Ending{"return", 0}, Ending{"exit", 3}, Ending{"_exit", 3},
                                         Ending{"_Exit", 3}, Ending{"quick_exit", 3},
                                         Ending{"abort", 128 + SIGABRT},
                                         Ending{"term", 128 + SIGTERM},
                                         Ending{"segv", 128 + SIGSEGV}, Ending{"hang-kernel", 3},
                                         Ending{"kill", 128 + SIGKILL, false},
                                         Ending{"sleep-kill", 128 + SIGKILL, false}),
                         [](const auto &Info) {
                           // Names of tests may only have letters.
                           std::string Name = Info.param.How[0] == '_' ? "Immediate" : "";
                           llvm::copy_if(Info.param.How, std::back_inserter(Name), llvm::isAlpha);
                           return Name;
                         });
