// Whole tunings on a GPU: the program of the next build runs what was decided, and whatever cannot
// be tuned stays as nvcc made it.
//
// Most tests use a kernel that is limited to too few registers, so that a winner is certain and all
// steps from trace to emission run. No test asserts which variant wins.
#include "GpuTesting.h"
#include "Store/DecisionFiles.h"
#include "Store/StoreUpkeep.h"
#include "Tune/Selection/PairedTimes.h"
#include "Workload/VisibleGpus.h"

#include "llvm/Support/Process.h"

#include <thread>

using namespace carve;
using namespace carve::test;

namespace {

class Tune : public GpuTest {
protected:
  const std::string Pressed = machine().Sources + "/apps/pressed.cu";

  /// Returns the words that compile \p Source into \p Output.
  static Words building(const std::string &Source, const std::string &Output, Words More = {}) {
    Words Arguments = {"-O2", "-o", Output, Source};
    Arguments.insert(Arguments.begin(), More.begin(), More.end());
    return Arguments;
  }

  void checkShrinking(const Words &Arguments, const char *Reason, KernelReport &K);
};

const std::string Arch = "-arch=" + TestArch;

/// Checks what every report of a tuning must satisfy.
void checkReport(const TuningReport &Report, const std::string &Log) {
  EXPECT_EQ(Report.Note, "") << Log;
  EXPECT_GT(Report.Runs, 2u);
  EXPECT_FALSE(Report.Kernels.empty());
  for (const KernelReport &K : Report.Kernels) {
    EXPECT_EQ(K.Tuned, K.Variant != "default") << K.Kernel;
    EXPECT_EQ(K.Tuned, K.Reason.empty()) << K.Kernel << ": " << K.Reason.text();
    if (!K.Tuned)
      continue;
    EXPECT_LE(K.Ratio.Median, 0.995) << K.Kernel;
    EXPECT_TRUE(K.Ratio.High < 1 || Report.Ended == "sum") << K.Kernel << " " << K.Ratio.High;
    // A large gain may win by a single pair, and a smaller one by two.
    EXPECT_GE(K.Pairs, K.Ratio.Median < 0.95 ? 1u : HurriedLook.Pairs) << K.Kernel;
  }
  if (Report.tunedKernels() > 0) {
    EXPECT_LE(Report.Program.Median, 1);
    EXPECT_NE(Report.Ended, "");
    EXPECT_GE(Report.PairsMade, Report.Pairs);
  }
}

/// Checks that \p Argv runs with the registers that \p Report decided, and prints \p Stdout.
void checkEmitted(Words Argv, const TuningReport &Report, const std::string &Stdout) {
  // The probe itself turns further entries off.
  Argv.insert(Argv.begin(), {"env", "CARVE_ENTRIES=on"});
  RunRecord Run = runProbed(Argv);
  EXPECT_EQ(Run.Output.ExitStatus, 0) << Run.Stderr;
  EXPECT_EQ(Run.Output.Stdout, Stdout);
  for (const KernelReport &K : Report.Kernels)
    EXPECT_EQ(registersOf(Run.Probe, K.Mangled + (K.Entries.empty() ? "" : "__carve_e1")),
              K.RegsAfter)
        << K.Kernel << ": " << K.Reason.text();
}

/// Builds again with \p Arguments and checks that nothing was run for it.
void checkSecondBuild(Project &P, const Words &Arguments, const std::string &Output) {
  std::string First = valueOf(readFile(Output));
  uint64_t Reports = storeStats(P.store()).Reports;
  P.compile(Arguments, "auto");
  EXPECT_EQ(storeStats(P.store()).Reports, Reports) << P.log();
  EXPECT_EQ(valueOf(readFile(Output)), First) << "the second build differs from the first";
}

} // namespace

TEST_F(Tune, exampleBuiltInOneStep_isTunedOnce) {
  Project P("stencil3d");
  std::string Source = machine().examplesDir() + "/stencil3d.cu", App = P.path("app");
  P.compile({"-O2", Arch, "-o", P.path("plain"), Source});
  CommandResult Plain = run({P.path("plain")});
  Words Build = building(Source, App, {Arch, "--carve-max-runs=60"});
  P.compile(Build, "auto");
  TuningReport Report = P.report();
  checkReport(Report, P.log());
  EXPECT_EQ(Report.Scope, "kernel");
  checkEmitted({App}, Report, Plain.Stdout);
  checkSecondBuild(P, Build, App);
}

/// The whole file gets one cap, by -maxrregcount.
TEST_F(Tune, fileScope_tunesTheWholeFile) {
  Project P("nbody");
  std::string Source = machine().examplesDir() + "/nbody.cu", App = P.path("app");
  P.compile({"-O2", Arch, "-o", P.path("plain"), Source});
  CommandResult Plain = run({P.path("plain")});
  Words Build = building(Source, App, {Arch, "--carve-max-runs=60", "--carve-scope=file"});
  P.compile(Build, "auto");
  TuningReport Report = P.report();
  checkReport(Report, P.log());
  EXPECT_EQ(Report.Scope, "file");
  checkEmitted({App}, Report, Plain.Stdout);
  checkSecondBuild(P, Build, App);
}

/// nvcc's default architecture is older than the GPU, so the driver compiles the PTX, and the tuned
/// program carries an image in addition. With CUDA_DISABLE_PTX_JIT only such an image can run.
TEST_F(Tune, programThatTheDriverWouldCompile_getsAnImage) {
  Project P("jit");
  // The driver's cache is off, too; otherwise it would supply what an earlier run compiled.
  const Words NoJit = {"CUDA_DISABLE_PTX_JIT=1", "CUDA_CACHE_DISABLE=1"};
  P.compile(building(Pressed, P.path("plain")));
  CommandResult Plain = run({P.path("plain")});
  ASSERT_EQ(Plain.ExitStatus, 0) << Plain.Stderr;
  ASSERT_NE(run({P.path("plain")}, NoJit).ExitStatus, 0);
  Words Build = building(Pressed, P.path("app"));
  P.compile(Build, "auto");
  TuningReport Report = P.report();
  checkReport(Report, P.log());
  ASSERT_EQ(Report.tunedKernels(), 1u) << P.log();
  checkEmitted({P.path("app")}, Report, Plain.Stdout);
  CommandResult WithoutJit = run({P.path("app")}, NoJit);
  EXPECT_EQ(WithoutJit.ExitStatus, 0) << WithoutJit.Stderr;
  EXPECT_EQ(WithoutJit.Stdout, Plain.Stdout);
  checkSecondBuild(P, Build, P.path("app"));
}

/// This is the way of a build system: build, tune with a script that starts the program twice,
/// build again.
TEST_F(Tune, scriptOfTwoProcesses_tunesTheNextBuild) {
  Project P("script");
  std::string App = P.path("app"), Object = P.path("app.o");
  auto Build = [&] {
    P.compile({"-c", "-O2", Arch, Pressed, "-o", Object});
    P.compile({Object, Arch, "-o", App});
  };
  Build();
  CommandResult Plain = run({App});
  ASSERT_FALSE(writeFileAtomically(P.path("twice.sh"), App + "\n" + App + "\n"));
  CommandResult Tuned = P.carve({"tune", "--", "/bin/sh", P.path("twice.sh")});
  EXPECT_EQ(Tuned.ExitStatus, 0) << Tuned.Stderr;
  EXPECT_NE(Tuned.Stdout.find("pressed"), std::string::npos) << Tuned.Stdout;
  TuningReport Report = P.report();
  checkReport(Report, P.log());
  ASSERT_EQ(Report.tunedKernels(), 1u) << P.log();
  EXPECT_EQ(Report.Kernels.front().Launches, 40u);
  // The program stays nvcc's until it is built again.
  EXPECT_EQ(registersOf(runProbed({App}).Probe, Report.Kernels.front().Mangled),
            Report.Kernels.front().RegsBefore);
  Build();
  checkEmitted({App}, Report, Plain.Stdout);
  EXPECT_EQ(P.carve({"report"}).ExitStatus, 0);
}

namespace {

/// Tunes apps/many_kernels.cu with \p Kernels kernels on the GPUs \p Gpus, and returns the report.
TuningReport tuneMany(const std::string &Name, unsigned Kernels, const std::string &Gpus) {
  Project P(Name);
  P.compile({"-O2", Arch, "-DKERNELS=" + std::to_string(Kernels), "-o", P.path("app"),
             machine().Sources + "/apps/many_kernels.cu"});
  CommandResult Tuned =
      P.carve({"tune", "--effort=0", "--budget=300", "--gpus=" + Gpus, "--", P.path("app")});
  EXPECT_EQ(Tuned.ExitStatus, 0) << Tuned.Stderr;
  TuningReport Report = P.report();
  checkReport(Report, P.log());
  return Report;
}

/// Whether two variants of a kernel have times whose intervals overlap.
bool asFast(const KernelReport &A, const KernelReport &B) {
  return A.Ratio.Low <= B.Ratio.High && B.Ratio.Low <= A.Ratio.High;
}

} // namespace

TEST_F(Tune, gpusOfOneNumber_timesOnThatGpu) {
  TuningReport Report = tuneMany("one-number", 3, "0");
  EXPECT_EQ(Report.TimedOn, Words{"GPU 0"});
  EXPECT_TRUE(Report.LeftGpus.empty());
  EXPECT_EQ(Report.GpuNote, "");
  for (const KernelReport &K : Report.Kernels)
    EXPECT_EQ(K.InRun.Gpu, "") << "there is only one";
}

TEST_F(Tune, gpuThatIsNotThere_isNamed) {
  Project P("no-such-gpu");
  P.compile({"-O2", Arch, "-o", P.path("app"), Pressed});
  CommandResult Tuned = P.carve({"tune", "--gpus=4711", "--", P.path("app")});
  EXPECT_NE(Tuned.ExitStatus, 0);
  EXPECT_NE(Tuned.Stderr.find("--gpus names GPU 4711, expected 0"), std::string::npos)
      << Tuned.Stderr;
}

/// several-gpus.sh measures how much faster this is.
TEST_F(Tune, severalGpus_findTheWinnersOfOne) {
  using llvm::sys::Process;
  const size_t Gpus =
      visibleGpus(systemGpus("/proc/driver/nvidia/gpus", "/dev"),
                  Process::GetEnv("CUDA_VISIBLE_DEVICES"), Process::GetEnv("CUDA_DEVICE_ORDER"))
          .size();
  if (Gpus < 2)
    GTEST_SKIP() << Gpus << " GPU(s) here";
  TuningReport One = tuneMany("on-one-gpu", 24, "0"), All = tuneMany("on-all-gpus", 24, "all");
  EXPECT_EQ(All.TimedOn.size() + All.LeftGpus.size(), Gpus) << All.GpuNote;
  std::map<std::string, size_t> KernelsOf;
  for (const KernelReport &K : All.Kernels)
    if (!K.InRun.Gpu.empty())
      ++KernelsOf[K.InRun.Gpu];
  // If only one is left, no kernel says which timed it.
  EXPECT_EQ(KernelsOf.size(), All.TimedOn.size() > 1 ? All.TimedOn.size() : 0)
      << "each has kernels of its own";
  std::map<std::string, KernelReport> Before;
  for (const KernelReport &K : One.Kernels)
    Before[K.Mangled] = K;
  for (const KernelReport &K : All.Kernels) {
    const KernelReport &Its = Before[K.Mangled];
    EXPECT_TRUE(K.Variant == Its.Variant || asFast(K, Its))
        << K.Kernel << ": " << K.Variant << ", on one GPU " << Its.Variant;
  }
}

namespace {

/// Checks the result of tuning apps/linked_*.cu: the kernel that is complete in its file is faster,
/// and the other one cannot be tuned.
void checkLinkedReport(const TuningReport &Report, const std::string &Log) {
  checkReport(Report, Log);
  ASSERT_EQ(Report.Kernels.size(), 2u);
  EXPECT_TRUE(Report.Kernels[0].Tuned) << Log;
  EXPECT_NE(Report.Kernels[0].Kernel.find("pressedLinked"), std::string::npos);
  EXPECT_EQ(Report.Kernels[1].Reason.text(), "external-call");
}

} // namespace

/// -rdc=true: objects, one of them in a library, and a link by nvcc.
TEST_F(Tune, relocatableObjectsAndALibrary_areTuned) {
  Project P("relocatable");
  std::string App = P.path("app"), Library = P.path("libshared.a");
  auto Build = [&] {
    Words Objects;
    for (const char *Stem : {"linked_main", "linked_hot", "linked_shared"}) {
      Objects.push_back(P.path(std::string(Stem) + ".o"));
      P.compile(
          {"-dc", "-O2", Arch, machine().Sources + "/apps/" + Stem + ".cu", "-o", Objects.back()});
    }
    EXPECT_EQ(run({"ar", "rcs", Library, Objects[1], Objects[2]}).ExitStatus, 0);
    P.compile({Objects[0], Library, Arch, "-o", App});
  };
  Build();
  CommandResult Plain = run({App});
  ASSERT_EQ(Plain.ExitStatus, 0) << Plain.Stderr;
  CommandResult Tuned = P.carve({"tune", "--", App});
  EXPECT_EQ(Tuned.ExitStatus, 0) << Tuned.Stderr;
  TuningReport Report = P.report();
  checkLinkedReport(Report, P.log());
  Build();
  checkEmitted({App}, Report, Plain.Stdout);
}

TEST_F(Tune, relocatableInOneStep_isTuned) {
  Project P("relocatable-one");
  Words Build = {"-O2", Arch, "-rdc=true", "-o", P.path("app")};
  for (const char *Source : {"linked_main.cu", "linked_hot.cu", "linked_shared.cu"})
    Build.push_back(machine().Sources + "/apps/" + Source);
  P.compile(Build);
  CommandResult Plain = run({P.path("app")});
  ASSERT_EQ(Plain.ExitStatus, 0) << Plain.Stderr;
  P.compile(Build, "auto");
  TuningReport Report = P.report();
  checkLinkedReport(Report, P.log());
  checkEmitted({P.path("app")}, Report, Plain.Stdout);
  checkSecondBuild(P, Build, P.path("app"));
}

/// Blocks of 1024 threads are never launched. Only the traced domain may use registers that such
/// blocks would forbid.
TEST_F(Tune, tracedDomain_gainsMore) {
  Project P("traced");
  Words Build = building(Pressed, P.path("app"), {Arch, "-DWIDE", "--carve-launch-domain=traced"});
  P.compile({"-O2", "-DWIDE", Arch, "-o", P.path("plain"), Pressed});
  CommandResult Plain = run({P.path("plain")});
  P.compile(Build, "auto");
  TuningReport Report = P.report();
  checkReport(Report, P.log());
  EXPECT_EQ(Report.Domain, "traced");
  ASSERT_EQ(Report.tunedKernels(), 1u) << P.log();
  EXPECT_GT(Report.Kernels.front().RegsAfter, 64u);
  checkEmitted({P.path("app")}, Report, Plain.Stdout);
  checkSecondBuild(P, Build, P.path("app"));
}

/// The large grid wants fewer registers than nvcc gives, and the small one more. With blocks alone
/// no code is compiled for the arguments, in which the two differ as well. A program that launches
/// one of them has nothing to compose.
TEST_F(Tune, gridsThatWantOtherCaps_getCodesOfTheirOwn) {
  Project P("grids");
  const std::string Source = machine().Sources + "/apps/grids.cu", App = P.path("app");
  P.compile(building(Source, App, {Arch}));
  for (const char *Grids : {"2", "1"}) {
    SCOPED_TRACE(Grids);
    CommandResult Plain = run({App, Grids});
    ASSERT_EQ(Plain.ExitStatus, 0) << Plain.Stderr;
    const std::string Profile = P.path(std::string("grids") + Grids + ".yaml");
    CommandResult Tuned =
        P.carve({"tune", "--entries=blocks", "--profile=" + Profile, "--", App, Grids});
    ASSERT_EQ(Tuned.ExitStatus, 0) << Tuned.Stderr << P.log();
    TuningReport Report = P.report();
    checkReport(Report, P.log());
    ASSERT_EQ(Report.tunedKernels(), 1u) << P.log();
    const KernelReport &K = Report.Kernels.front();
    bool Composed = llvm::StringRef(K.Variant).contains('+');
    EXPECT_EQ(Composed, *Grids == '2') << K.Variant << "\n" << P.log();
    EXPECT_EQ(Composed && llvm::any_of(K.Entries,
                                       [](const EntryHold &E) {
                                         return llvm::StringRef(E.When).contains("grid ");
                                       }),
              Composed)
        << K.Variant;
    const std::string New = P.path(std::string("new") + Grids);
    const Words Build = building(Source, New, {Arch, "--carve-profile=" + Profile});
    P.compile(Build);
    checkEmitted({New, Grids}, Report, Plain.Stdout);
    // The same profile makes the same program with an empty store.
    std::string First = valueOf(readFile(New));
    Project Other(std::string("grids-other") + Grids);
    Other.compile(Build);
    EXPECT_EQ(valueOf(readFile(New)), First) << Other.log();
  }
}

/// Tunes apps/shrinking.cu with \p Arguments and sets \p K to the report of its kernel, which must
/// have been replayed, with \p Reason in what is said of that. The next build must run what was
/// decided.
void Tune::checkShrinking(const Words &Arguments, const char *Reason, KernelReport &K) {
  Project P("shrinking");
  const std::string Source = machine().Sources + "/apps/shrinking.cu", App = P.path("app");
  Words Argv = {App};
  Argv.insert(Argv.end(), Arguments.begin(), Arguments.end());
  P.compile(building(Source, App, {Arch}));
  CommandResult Plain = run(Argv);
  ASSERT_EQ(Plain.ExitStatus, 0) << Plain.Stderr;
  Words Tuning = {"tune", "--"};
  Tuning.insert(Tuning.end(), Argv.begin(), Argv.end());
  CommandResult Tuned = P.carve(Tuning);
  ASSERT_EQ(Tuned.ExitStatus, 0) << Tuned.Stderr << P.log();
  TuningReport Report = P.report();
  checkReport(Report, P.log());
  ASSERT_EQ(Report.tunedKernels(), 1u) << P.log();
  K = Report.Kernels.front();
  EXPECT_EQ(K.Launches, 200u);
  EXPECT_EQ(K.InRun.Mode, "replay") << K.InRun.Reason;
  EXPECT_EQ(K.InRun.Verified, "bitwise");
  EXPECT_NE(K.InRun.Reason.find(Reason), std::string::npos) << K.InRun.Reason;
  P.compile(building(Source, App, {Arch}));
  checkEmitted(Argv, Report, Plain.Stdout);
}

/// Every one of the 200 launches has a different grid, so a few launches are replayed in place of
/// all. No grid gets its own code.
TEST_F(Tune, gridsThatShrink_areTimedByRepresentatives) {
  KernelReport K;
  checkShrinking({}, " of 200 launch shapes, which stand for all", K);
  for (const EntryHold &E : K.Entries)
    EXPECT_FALSE(llvm::StringRef(E.When).contains("grid ")) << E.When;
}

/// All launches have one grid, and the number of its blocks that do something shrinks.
TEST_F(Tune, launchesThatShrink_areTimedInSegments) {
  KernelReport K;
  checkShrinking({"one-grid"}, "; 4 segments", K);
  EXPECT_EQ(K.Shapes.size(), 1u) << "the user knows one shape";
  EXPECT_NEAR(K.InRun.Ratio.Median, K.Ratio.Median, 0.03) << "a single launch would tell less";
}

/// Of the short launches one is the first and one is in the middle. The long ones are replayed,
/// too.
TEST_F(Tune, launchesOfTwoLengths_areTimedByLength) {
  Project P("lengths");
  const std::string Source = machine().Sources + "/apps/lengths.cu", App = P.path("app");
  P.compile(building(Source, App, {Arch}));
  for (const char *How : {"plain", "graph"}) {
    SCOPED_TRACE(How);
    CommandResult Plain = run({App, How});
    ASSERT_EQ(Plain.ExitStatus, 0) << Plain.Stderr;
    const std::string Profile = P.path(std::string(How) + ".yaml");
    CommandResult Tuned =
        P.carve({"tune", "--entries=blocks", "--profile=" + Profile, "--", App, How});
    ASSERT_EQ(Tuned.ExitStatus, 0) << Tuned.Stderr << P.log();
    TuningReport Report = P.report();
    checkReport(Report, P.log());
    ASSERT_EQ(Report.Kernels.size(), 1u) << P.log();
    const KernelReport &K = Report.Kernels.front();
    EXPECT_EQ(K.Launches, 120u);
    EXPECT_EQ(K.Shapes.size(), 1u) << "the user knows one shape";
    EXPECT_EQ(K.InRun.Mode, "replay") << K.InRun.Reason;
    EXPECT_EQ(K.InRun.Verified, "bitwise");
    EXPECT_NE(K.InRun.Reason.find("; 2 classes by arguments"), std::string::npos) << K.InRun.Reason;
    const std::string New = P.path(std::string("new-") + How);
    P.compile(building(Source, New, {Arch, "--carve-profile=" + Profile}));
    checkEmitted({New, How}, Report, Plain.Stdout);
  }
}

/// The same where each launch runs the next variant: a cycle runs over launches of one length.
TEST_F(Tune, launchesOfTwoLengths_areRotatedByLength) {
  Project P("lengths-rotated");
  const std::string Source = machine().Sources + "/apps/lengths.cu", App = P.path("app");
  P.compile(building(Source, App, {Arch}));
  CommandResult Tuned = P.carve({"tune", "--mode=rotate", "--entries=blocks", "--", App, "many"});
  ASSERT_EQ(Tuned.ExitStatus, 0) << Tuned.Stderr << P.log();
  TuningReport Report = P.report();
  checkReport(Report, P.log());
  const KernelReport &K = Report.Kernels.front();
  EXPECT_EQ(K.InRun.Mode, "rotate") << K.InRun.Reason;
  EXPECT_NE(K.InRun.Reason.find("; 2 classes by arguments"), std::string::npos) << K.InRun.Reason;
}

/// What depends on time must not look like a result that a variant has changed.
TEST_F(Tune, averageOfAsynchronousLaunches_isKnownToDependOnTime) {
  Project P("averages");
  const std::string Source = machine().Sources + "/apps/averages.cu", App = P.path("app");
  P.compile({"-O2", Arch, "-o", P.path("plain"), Source});
  CommandResult Plain = run({P.path("plain")});
  ASSERT_EQ(Plain.ExitStatus, 0) << Plain.Stderr;
  P.compile(building(Source, App, {Arch}), "auto");
  TuningReport Report = P.report();
  checkReport(Report, P.log());
  EXPECT_EQ(Report.tunedKernels(), 1u) << P.log();
  EXPECT_EQ(Report.UnstableLines, 2u) << P.log();
  auto Checksum = [](const CommandResult &Result) {
    return llvm::StringRef(Result.Stdout).split("averages").second.str();
  };
  EXPECT_NE(Checksum(Plain), "");
  EXPECT_EQ(Checksum(run({App})), Checksum(Plain));
}

/// The same samples lead to the same decision without the GPU. Recorded samples have no budget, so
/// that of the tuning must not run out on a busy host.
TEST_F(Tune, recordedSamples_giveTheSameDecision) {
  Project P("recorded");
  P.compile(building(Pressed, P.path("app"), {Arch}));
  CommandResult First =
      P.carve({"tune", "--budget=90", "--record=" + P.path("samples"), "--", P.path("app")});
  ASSERT_EQ(First.ExitStatus, 0) << First.Stderr;
  TuningReport Recorded = P.report();
  checkReport(Recorded, P.log());
  std::vector<Unit> Units = P.store().units();
  ASSERT_EQ(Units.size(), 1u);
  std::optional<std::string> Decided = valueOf(readDecisions(P.store(), Units.front().Key));

  CommandResult Second =
      P.carve({"tune", "--format=json", "--samples=" + P.path("samples"), "--", P.path("app")});
  ASSERT_EQ(Second.ExitStatus, 0) << Second.Stderr;
  TuningReport Replayed = valueOf(parseJsonReport(Second.Stdout, "report"));
  ASSERT_EQ(Replayed.Kernels.size(), Recorded.Kernels.size());
  for (size_t K = 0; K < Recorded.Kernels.size(); ++K) {
    EXPECT_EQ(Replayed.Kernels[K].Variant, Recorded.Kernels[K].Variant);
    EXPECT_EQ(Replayed.Kernels[K].RegsAfter, Recorded.Kernels[K].RegsAfter);
    EXPECT_EQ(Replayed.Kernels[K].Pairs, Recorded.Kernels[K].Pairs);
    // Samples are kept as whole nanoseconds.
    EXPECT_NEAR(Replayed.Kernels[K].Ratio.Median, Recorded.Kernels[K].Ratio.Median, 1e-4);
  }
  EXPECT_TRUE(Decided.has_value());
}

/// The two tunings share the store and the GPU; each waits for the other's runs.
TEST_F(Tune, twoTuningsAtOnce_bothDecide) {
  Project P("shared");
  std::string Driver = machine().tool("carve-nvcc");
  CommandResult Results[2];
  std::vector<std::thread> Threads;
  for (int I = 0; I < 2; ++I)
    Threads.emplace_back([&, I] {
      std::string Name = P.path("app" + std::to_string(I));
      Results[I] = run({Driver, "-O2", Arch, Pressed, "-o", Name, "--carve-log=" + Name + ".log"},
                       {"CARVE_STORE=" + P.path("store"), "CARVE_NVCC=" + machine().T.Nvcc});
    });
  for (std::thread &T : Threads)
    T.join();
  EXPECT_EQ(storeStats(P.store()).Reports, 2u);
  EXPECT_EQ(P.store().units().size(), 2u);
  EXPECT_TRUE(verifyStore(P.store(), /*Repair=*/false).empty());
  std::string Stdout = run({program("pressed")}).Stdout;
  for (int I = 0; I < 2; ++I) {
    std::string Name = P.path("app" + std::to_string(I));
    EXPECT_EQ(Results[I].ExitStatus, 0) << Results[I].Stderr;
    EXPECT_EQ(Results[I].Stdout + Results[I].Stderr, "");
    // The probe itself turns further entries off, and the winner may be one.
    RunRecord Run = runProbed({"env", "CARVE_ENTRIES=on", Name});
    EXPECT_EQ(Run.Output.Stdout, Stdout);
    EXPECT_GT(Run.Probe.Kernels.front().RegsPerThread, 32u) << valueOf(readFile(Name + ".log"));
  }
}

namespace {
/// A workload with which nothing can be tuned, and what the log must say about it.
struct UntunableCase {
  std::string Name;
  std::string Source, Argument;
  std::string Note;
  Words Options = {};
};
std::ostream &operator<<(std::ostream &OS, const UntunableCase &C) { return OS << C.Name; }

class Untunable : public GpuTest, public testing::WithParamInterface<UntunableCase> {};
} // namespace

TEST_P(Untunable, untunableWorkload_keepsTheDefault) {
  const UntunableCase &Case = GetParam();
  Project P("untunable-" + Case.Name);
  std::string Source = machine().Sources + "/apps/" + Case.Source;
  P.compile({"-O2", Arch, Source, "-o", P.path("app")});
  std::string Plain = valueOf(readFile(P.path("app")));
  Words Build = {"-O2", Arch,          Source,
                 "-o",  P.path("app"), "--carve-run=" + P.path("app") + " " + Case.Argument};
  Build.insert(Build.end(), Case.Options.begin(), Case.Options.end());
  P.compile(Build);
  EXPECT_NE(P.log().find("not tuned: " + Case.Note), std::string::npos) << P.log();
  EXPECT_NE(P.report().Note.find(Case.Note), std::string::npos) << P.report().Note;
  EXPECT_EQ(P.report().tunedKernels(), 0u);
  EXPECT_EQ(valueOf(readFile(P.path("app"))), Plain);
  // A failure is not tried again and again.
  P.compile(Build);
  EXPECT_EQ(storeStats(P.store()).Reports, 1u);
}

INSTANTIATE_TEST_SUITE_P(All, Untunable,
                         testing::Values(UntunableCase{"Fails", "pressed.cu", "fail",
                                                       "the program ended with exit status 3"},
                                         UntunableCase{"IsKilled", "pressed.cu", "kill",
                                                       "the program ended with exit status 137"},
                                         UntunableCase{"TimesOut",
                                                       "pressed.cu",
                                                       "hang",
                                                       "the program did not end within 3 s",
                                                       {"--carve-timeout=3"}},
                                         UntunableCase{"LaunchesNothing", "no_gpu.cu", "",
                                                       "the program launched no kernel"}),
                         [](const auto &Info) { return Info.param.Name; });
