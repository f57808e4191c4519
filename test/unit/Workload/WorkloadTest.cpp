#include "Workload/Workload.h"

#include "unit/Workload/WorkloadTesting.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

#include <csignal>
#include <thread>
#include <unistd.h>

using namespace carve;

static ProgramOutput output(std::string Stdout, int Status = 0,
                            std::map<std::string, std::string> Files = {}) {
  return {Status, std::move(Stdout), std::move(Files)};
}

TEST(OutputReference, output_equal_isNoDifference) {
  OutputReference R;
  R.addDefault(output("sum 1\ndone\n", 3, {{"out.bin", "d1"}}));
  EXPECT_EQ(R.difference(output("sum 1\ndone\n", 3, {{"out.bin", "d1"}})), std::nullopt);
  EXPECT_EQ(R.unstableLines(), 0u);
}

TEST(OutputReference, output_differs_isDescribed) {
  OutputReference R;
  R.addDefault(output("sum 1\ndone\n", 0, {{"out.bin", "d1"}}));
  EXPECT_EQ(R.difference(output("sum 1\ndone\n", 139, {{"out.bin", "d1"}})),
            "exit status 139 instead of 0");
  EXPECT_EQ(R.difference(output("sum 1\ndone\n", 0, {{"out.bin", "-"}})),
            "the content of out.bin differs");
  EXPECT_EQ(R.difference(output("sum 2\ndone\n", 0, {{"out.bin", "d1"}})),
            "line 1 of the output is 'sum 2' instead of 'sum 1'");
  EXPECT_EQ(R.difference(output("sum 1\n", 0, {{"out.bin", "d1"}})),
            "2 lines of output instead of 3");
  // A last line without its newline is a difference.
  EXPECT_EQ(R.difference(output("sum 1\ndone", 0, {{"out.bin", "d1"}})),
            "2 lines of output instead of 3");
}

TEST(OutputReference, lines_thatTheDefaultChanges_doNotCount) {
  OutputReference R;
  R.addDefault(output("sum 1\ntime 0.11 s\nend\n"));
  R.addDefault(output("sum 1\ntime 0.12 s\nend\n"));
  EXPECT_EQ(R.unstableLines(), 1u);
  EXPECT_FALSE(R.stdoutUnstable());
  EXPECT_EQ(R.difference(output("sum 1\ntime 9 s\nend\n")), std::nullopt);
  EXPECT_EQ(R.difference(output("sum 2\ntime 0.11 s\nend\n")),
            "line 1 of the output is 'sum 2' instead of 'sum 1'");
  // A later run may show more unstable lines. Masked lines stay masked.
  R.addDefault(output("sum 1\ntime 0.11 s\nEND\n"));
  EXPECT_EQ(R.unstableLines(), 2u);
}

TEST(OutputReference, times_mayDifferIfTheCallerSaysSo) {
  OutputReference R;
  R.addDefault(output("sum 1\ndone (0.03 seconds)\n"));
  ProgramOutput Later = output("sum 1\ndone (0.04 seconds)\n");
  EXPECT_TRUE(R.difference(Later));
  EXPECT_EQ(R.difference(Later, OutputReference::OtherTimes::Any), std::nullopt);
  for (const char *Other :
       {"sum 2\ndone (0.03 seconds)\n", "sum 1\nDone (0.03 seconds)\n", "sum 1\n"})
    EXPECT_TRUE(R.difference(output(Other), OutputReference::OtherTimes::Any)) << Other;
}

/// myocyte of Rodinia prints nine times, and those of its short steps are 0 or 1 us by chance.
TEST(OutputReference, times_mayDifferWhereTheDefaultChangesLinesOfThatForm) {
  constexpr auto Changing = OutputReference::OtherTimes::OfFormsThatChange;
  OutputReference R;
  auto Printed = [](const char *Setup, const char *Run, const char *Free, const char *Reached) {
    return output(std::string(Setup) + " : SETUP\n" + Run + " : RUN\n" + Free +
                  " : FREE\nreached " + Reached + " s\n");
  };
  ProgramOutput Other = Printed("0.000001 s, 0.1 %", "0.81 s, 98 %", "0.1 s, 1.9 %", "0.5");
  R.addDefault(Printed("0.000000 s, 0.0 %", "0.81 s, 98 %", "0.1 s, 2 %", "0.5"));
  EXPECT_TRUE(R.difference(Other, Changing)) << "no line has changed yet";
  R.addDefault(Printed("0.000000 s, 0.0 %", "0.82 s, 98 %", "0.1 s, 2 %", "0.5"));
  EXPECT_TRUE(R.difference(Other, Changing)) << "only one line has";
  R.addDefault(Printed("0.000000 s, 0.0 %", "0.83 s, 98 %", "0.2 s, 2 %", "0.5"));
  EXPECT_EQ(R.difference(Other, Changing), std::nullopt);
  EXPECT_TRUE(R.difference(Other));
  EXPECT_TRUE(
      R.difference(Printed("0.000000 s, 0.0 %", "0.8 s, 98 %", "0.2 s, 2 %", "0.6"), Changing))
      << "a time of another form";
  EXPECT_TRUE(
      R.difference(Printed("0.000000 s, 0.0", "0.8 s, 98 %", "0.2 s, 2 %", "0.5"), Changing));
}

TEST(OutputReference, lines_thatMove_areComparedWithoutOrder) {
  OutputReference R;
  R.addDefault(output("rank 0 sum 1\nrank 1 sum 2\nrank 2 sum 2\nend\n"));
  EXPECT_FALSE(R.unordered());
  R.addDefault(output("rank 2 sum 2\nrank 0 sum 1\nrank 1 sum 2\nend\n"));
  EXPECT_TRUE(R.unordered());
  EXPECT_EQ(R.unstableLines(), 0u);
  EXPECT_EQ(R.difference(output("end\nrank 1 sum 2\nrank 2 sum 2\nrank 0 sum 1\n")), std::nullopt);
  EXPECT_EQ(R.difference(output("rank 0 sum 1\nrank 1 sum 3\nrank 2 sum 2\nend\n")),
            "the output has the line 'rank 1 sum 2' 0 times instead of 1");
  // The result of one rank twice is not the same as the results of two ranks.
  EXPECT_EQ(R.difference(output("rank 0 sum 1\nrank 0 sum 1\nrank 2 sum 2\nend\n")),
            "the output has the line 'rank 1 sum 2' 0 times instead of 1");
  EXPECT_EQ(R.difference(output("rank 0 sum 1\nrank 1 sum 2\nrank 2 sum 2\n")),
            "4 lines of output instead of 5");
}

TEST(OutputReference, times_amongMovingLines_doNotCount) {
  OutputReference R;
  R.addDefault(output("rank 0 ok\nrank 0 took 0.11\nrank 1 ok\nrank 1 took 0.12\n"));
  R.addDefault(output("rank 1 ok\nrank 0 ok\nrank 0 took 0.31\nrank 1 took 0.32\n"));
  EXPECT_TRUE(R.unordered());
  EXPECT_EQ(R.unstableLines(), 2u);
  EXPECT_EQ(R.difference(output("rank 0 took 5\nrank 1 took 6\nrank 1 ok\nrank 0 ok\n")),
            std::nullopt);
  EXPECT_EQ(R.difference(output("rank 0 took 5\nrank 1 took 6\nrank 1 bad\nrank 0 ok\n")),
            "the output has the line 'rank 1 ok' 0 times instead of 1");
}

TEST(OutputReference, lines_thatDoNotMove_keepTheirOrder) {
  OutputReference R;
  R.addDefault(output("first\nsecond\ntook 0.11\n"));
  R.addDefault(output("first\nsecond\ntook 0.12\n"));
  EXPECT_FALSE(R.unordered());
  EXPECT_EQ(R.difference(output("second\nfirst\ntook 0.11\n")),
            "line 1 of the output is 'second' instead of 'first'");
}

TEST(OutputReference, lineCount_unstable_onlyStatusAndFilesCount) {
  OutputReference R;
  R.addDefault(output("a\n", 0, {{"f", "1"}}));
  R.addDefault(output("a\nb\n", 0, {{"f", "1"}}));
  EXPECT_TRUE(R.stdoutUnstable());
  EXPECT_EQ(R.difference(output("quite else\n", 0, {{"f", "1"}})), std::nullopt);
  EXPECT_EQ(R.difference(output("a\n", 1, {{"f", "1"}})), "exit status 1 instead of 0");
  EXPECT_EQ(R.difference(output("a\n", 0, {{"f", "2"}})), "the content of f differs");
}

TEST(OutputReference, files_thatTheDefaultChanges_doNotCount) {
  OutputReference R;
  R.addDefault(output("", 0, {{"log", "1"}, {"result", "1"}}));
  R.addDefault(output("", 0, {{"log", "2"}, {"result", "1"}}));
  EXPECT_EQ(R.difference(output("", 0, {{"log", "3"}, {"result", "1"}})), std::nullopt);
  EXPECT_EQ(R.difference(output("", 0, {{"log", "1"}, {"result", "2"}})),
            "the content of result differs");
}

TEST(Workload, run_underTheProbe_hasOutputAndFiles) {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-workload"));
  ASSERT_EQ(messageOf(writeFileAtomically(Dir.path() + "/result", "42")), "");
  WorkloadSpec Spec;
  Spec.Argv = {"./app", "4096"};
  Spec.Dir = Dir.path();
  Spec.TimeoutS = 7;
  Spec.OutputFiles = {"result", "absent"};
  ProbedProgram Runner;
  Runner.Program = [](const ProbedProgram::Run &, CommandResult &Result) {
    Result.Stdout = "sum 1\n";
    Result.Stderr = "warming up\n";
    Result.ExitStatus = 2;
    return ProbeHead + kernelLine("k", 5) + "end\n";
  };
  RunRecord Run = valueOf(runWorkload(Spec, {"/lib/probe.so", "/cupti.so"}, {}, Runner));
  ASSERT_EQ(Runner.Runs.size(), 1u);
  ProbedProgram::Run &Asked = Runner.Runs[0];
  EXPECT_EQ(Asked.Asked.Argv, Spec.Argv);
  EXPECT_EQ(Asked.Asked.TimeoutS, 7);
  EXPECT_EQ(Asked.Asked.StdinPath, "/dev/null");
  EXPECT_EQ(Asked.Env[probe::InjectionVariable], "/lib/probe.so");
  EXPECT_EQ(Asked.Env[probe::CuptiVariable], "/cupti.so");
  EXPECT_EQ(Asked.Env["CARVE_RUN"], "none");
  EXPECT_FALSE(Asked.Env.count(probe::ImagesVariable));
  EXPECT_FALSE(Asked.Env.count(probe::StretchVariable));
  EXPECT_FALSE(Run.succeeded());
  EXPECT_EQ(Run.Probe.totalNs(), 5u);
  EXPECT_EQ(Run.Output.Stdout, "sum 1\n");
  EXPECT_EQ(Run.Output.ExitStatus, 2);
  EXPECT_EQ(Run.Stderr, "warming up\n");
  EXPECT_EQ(Run.Output.FileDigests.at("absent"), "-");
  EXPECT_NE(Run.Output.FileDigests.at("result"), "-");
  // The files of the run are removed.
  EXPECT_FALSE(llvm::sys::fs::exists(Asked.Env[probe::DirVariable]));
}

TEST(Workload, imagesAndStretch_reachTheProbe) {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-workload"));
  ASSERT_EQ(messageOf(writeFileAtomically(Dir.path() + "/0.cubin", "image")), "");
  ProbedProgram Runner;
  Runner.Program = [](const ProbedProgram::Run &, CommandResult &) { return ProbeHead + "end\n"; };
  WorkloadSpec Spec;
  Spec.Argv = {"app"};
  Spec.StdinPath = "in.txt";
  valueOf(runWorkload(Spec, {"p", ""}, {{"c1", Dir.path() + "/0.cubin"}}, Runner, {1500, 70}));
  EXPECT_EQ(Runner.Runs[0].Images["c1"], "image");
  EXPECT_EQ(Runner.Runs[0].Env[probe::StretchVariable], "1500 70");
  EXPECT_FALSE(Runner.Runs[0].Env.count(probe::CuptiVariable));
  EXPECT_EQ(Runner.Runs[0].Asked.StdinPath, "in.txt");
}

TEST(Workload, plan_reachesTheProbe) {
  ProbedProgram Runner;
  std::string Seen;
  Runner.Program = [&](const ProbedProgram::Run &R, CommandResult &) {
    auto Plan = R.Env.find(probe::PlanVariable);
    Seen = Plan == R.Env.end() ? "none" : valueOf(readFile(Plan->second));
    return ProbeHead + "end\n";
  };
  WorkloadSpec Spec;
  Spec.Argv = {"app"};
  valueOf(runWorkload(Spec, {"p", "", "carve-plan\t1\n"}, {}, Runner));
  EXPECT_EQ(Seen, "carve-plan\t1\n");
  valueOf(runWorkload(Spec, {"p", ""}, {}, Runner));
  EXPECT_EQ(Seen, "none");
}

TEST(Workload, records_unreadable_areAnError) {
  ProbedProgram Runner;
  Runner.Program = [](const ProbedProgram::Run &, CommandResult &) { return "garbage\n"; };
  WorkloadSpec Spec;
  Spec.Argv = {"app"};
  EXPECT_NE(messageOf(runWorkload(Spec, {"p", ""}, {}, Runner)).find("not a record of protocol"),
            std::string::npos);
}

namespace {

/// Runs a shell command as the workload, with real processes.
class WorkloadProcessesTest : public testing::Test {
protected:
  WorkloadProcessesTest() : Dir(llvm::cantFail(TempDir::create("carve-workload"))) {}

  RunRecord run(const std::string &Script, double TimeoutS = 20) {
    WorkloadSpec Spec;
    Spec.Argv = {"sh", "-c", Script};
    Spec.Dir = Dir.path();
    Spec.TimeoutS = TimeoutS;
    return valueOf(runWorkload(Spec, {"p", ""}, {}, Runner));
  }
  void write(const std::string &Name, const std::string &Text) {
    EXPECT_EQ(messageOf(writeFileAtomically(Dir.path() + "/" + Name, Text)), "");
  }
  /// Writes a script that leaves a record as the probe would, with its first line and \p Text, and
  /// then runs \p More.
  void writeProgram(const std::string &Name, const std::string &Text, const std::string &More) {
    write(Name + ".text", Text);
    write(Name, "{ printf 'carve-probe\\t1\\t%s\\tx\\n' $$; cat " + Name +
                    ".text; } >$CARVE_PROBE_DIR/$$-1.probe\n" + More + "\n");
  }
  pid_t pidIn(const std::string &Name) {
    int Pid = 0;
    llvm::StringRef(valueOf(readFile(Dir.path() + "/" + Name))).trim().getAsInteger(10, Pid);
    return Pid;
  }
  /// Whether the process runs. A zombie does not.
  static bool runs(pid_t Pid) {
    return !readProcFile("/proc/" + std::to_string(Pid) + "/cmdline").value_or("").empty();
  }
  /// Whether the process ends within a second.
  static bool ends(pid_t Pid) {
    for (int I = 0; I < 100 && runs(Pid); ++I)
      ::usleep(10000);
    return Pid > 0 && !runs(Pid);
  }

  TempDir Dir;
  ProcessRunner Runner;
};

constexpr char Loaded[] = "container\tc1\t1\tcuLibraryLoadData\n";

} // namespace

TEST_F(WorkloadProcessesTest, launcher_withoutCuda_leavesNoRecord) {
  writeProgram("app", std::string(Loaded) + "end\n", "");
  RunRecord Run = run("sh -c 'sh app'; true");
  EXPECT_EQ(Run.Probe.Processes, 1u);
  EXPECT_EQ(Run.Probe.whyIncomplete(), std::nullopt);
}

TEST_F(WorkloadProcessesTest, process_onlyAsksForDevices_mayBeKilled) {
  writeProgram("app", ProbeHead.substr(ProbeHead.find("device")), "kill -9 $$");
  RunRecord Run = run("sh app; true");
  EXPECT_EQ(Run.Probe.Processes, 1u);
  EXPECT_EQ(Run.Probe.Devices.size(), 1u);
  EXPECT_EQ(Run.Probe.whyIncomplete(), std::nullopt);
  writeProgram("app", Loaded, "kill -9 $$");
  EXPECT_EQ(run("sh app; true").Probe.whyIncomplete(),
            "1 process(es) ended before their record was whole");
}

// A launcher may not wait for the last of its ranks.
TEST_F(WorkloadProcessesTest, record_ofTheLastRank_isWaitedFor) {
  writeProgram("app", Loaded, "sleep 0.6; echo end >>$CARVE_PROBE_DIR/$$-1.probe");
  RunRecord Run = run("sh app >/dev/null 2>&1 & sleep 0.3");
  EXPECT_EQ(Run.Probe.whyIncomplete(), std::nullopt);
  EXPECT_EQ(Run.Probe.Processes, 1u);
  EXPECT_LT(Run.WallS, 0.6);
}

TEST_F(WorkloadProcessesTest, daemon_stillRunning_isReported) {
  writeProgram("app", Loaded, "echo $$ >daemon; exec sleep 30");
  RunRecord Run = run("setsid sh app >/dev/null 2>&1 & sleep 0.3");
  EXPECT_EQ(Run.Probe.whyIncomplete(), "1 process(es) still ran when the program had ended");
  // The daemon belongs to the user. Processes are ended only after an interrupt or a timeout.
  EXPECT_TRUE(runs(pidIn("daemon")));
  ::kill(pidIn("daemon"), SIGKILL);
}

// Shells make children in the background ignore an interrupt, and ranks have their own process
// groups.
TEST_F(WorkloadProcessesTest, timeout_processesInOtherSessions_areEnded) {
  RunRecord Run = run("sh -c 'echo $$ >shell; exec sleep 30' & setsid sh -c "
                      "'trap \"\" TERM; echo $$ >session; while :; do sleep 0.1; done' & wait",
                      /*TimeoutS=*/2);
  EXPECT_TRUE(Run.TimedOut);
  EXPECT_TRUE(ends(pidIn("shell")));
  EXPECT_TRUE(ends(pidIn("session")));
}

TEST_F(WorkloadProcessesTest, interrupt_processesInOtherSessions_areEnded) {
  std::thread Person([&] {
    for (int I = 0; I < 500 && !llvm::sys::fs::exists(Dir.path() + "/session"); ++I)
      ::usleep(10000);
    ::kill(::getpid(), SIGINT);
  });
  RunRecord Run = run("sh -c 'echo $$ >shell; exec sleep 30' & setsid sh -c "
                      "'echo $$ >session; exec sleep 30' & wait");
  Person.join();
  EXPECT_EQ(Run.Interrupted, SIGINT);
  EXPECT_FALSE(Run.TimedOut);
  EXPECT_TRUE(ends(pidIn("shell")));
  EXPECT_TRUE(ends(pidIn("session")));
}

TEST_F(WorkloadProcessesTest, interrupt_ranksOfMpirun_areEnded) {
  if (!llvm::sys::findProgramByName("mpirun"))
    GTEST_SKIP() << "no mpirun here";
  std::thread Person([&] {
    for (int I = 0; I < 1000 && !llvm::sys::fs::exists(Dir.path() + "/rank3"); ++I)
      ::usleep(10000);
    ::usleep(200000);
    ::kill(::getpid(), SIGINT);
  });
  // Without these variables, Open MPI refuses root, and more ranks than processors.
  RunRecord Run = run("export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
                      "OMPI_MCA_rmaps_base_oversubscribe=1; "
                      "mpirun -n 4 sh -c 'echo $$ >rank$OMPI_COMM_WORLD_RANK; exec sleep 60'");
  Person.join();
  EXPECT_EQ(Run.Interrupted, SIGINT);
  for (const char *Rank : {"rank0", "rank1", "rank2", "rank3"})
    EXPECT_TRUE(ends(pidIn(Rank))) << Run.Stderr;
}

TEST_F(WorkloadProcessesTest, interrupt_processIgnoresIt_isKilled) {
  std::thread Person([&] {
    for (int I = 0; I < 500 && !llvm::sys::fs::exists(Dir.path() + "/deaf"); ++I)
      ::usleep(10000);
    ::kill(::getpid(), SIGINT);
  });
  RunRecord Run = run("trap '' INT TERM; echo $$ >deaf; while :; do sleep 0.1; done");
  Person.join();
  EXPECT_EQ(Run.Interrupted, SIGINT);
  EXPECT_LT(Run.WallS, 12);
  EXPECT_TRUE(ends(pidIn("deaf")));
}

TEST_F(WorkloadProcessesTest, records_programChangesDirectory_areFound) {
  std::string Old = llvm::sys::Process::GetEnv("TMPDIR").value_or("");
  llvm::SmallString<128> Here;
  ASSERT_FALSE(llvm::sys::fs::current_path(Here));
  ASSERT_EQ(::chdir(Dir.path().c_str()), 0);
  ::setenv("TMPDIR", ".", 1);
  RunRecord Run = run("cd /; printf 'carve-probe\\t1\\t1\\tx\\nend\\n' "
                      ">$CARVE_PROBE_DIR/1-1.probe");
  ::setenv("TMPDIR", Old.c_str(), 1);
  ASSERT_EQ(::chdir(Here.c_str()), 0);
  EXPECT_EQ(Run.Probe.Processes, 1u) << Run.Stderr;
}

TEST(Workload, revealingStretch_makesTheProgramVisiblyLonger) {
  RunRecord Run;
  Run.WallS = 10;
  EXPECT_EQ(revealingStretch(Run), (probe::TimeStretch{1000000000, 4400000000}));
  Run.Probe.Kernels = {launches("k", 32, 1000)}; // It has ten launches.
  EXPECT_EQ(revealingStretch(Run), (probe::TimeStretch{100000000, 4400000000}));
  Run.WallS = 0.2;
  EXPECT_EQ(revealingStretch(Run), (probe::TimeStretch{30000000, 200000000}));
}

/// What holds back launches, and the waits for streams and for the device on top of each other.
TEST(Workload, revealingStretch_isNotUsedUpByTheShares) {
  RunRecord Run;
  Run.WallS = 100;
  double LaunchesS = double(revealingStretch(Run).LaunchNs) / 1e9;
  double Longest = (Run.WallS + LaunchesS) * (1 + probe::MostShare) * (1 + probe::MostShare);
  EXPECT_LT(Longest, Run.WallS * 1.5);
  EXPECT_GT(double(revealingStretch(Run).WaitsNs) / 1e9, Longest - Run.WallS - LaunchesS);
}

TEST(Workload, findCupti_besideNvcc_isFound) {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-cuda"));
  EXPECT_EQ(findCupti(Dir.path() + "/bin"), std::nullopt);
  std::string Lib = Dir.path() + "/extras/CUPTI/lib64";
  ASSERT_FALSE(llvm::sys::fs::create_directories(Lib));
  ASSERT_FALSE(llvm::sys::fs::create_directories(Dir.path() + "/bin"));
  ASSERT_EQ(messageOf(writeFileAtomically(Lib + "/libcupti.so.13", "")), "");
  std::optional<std::string> Found = findCupti(Dir.path() + "/bin");
  ASSERT_TRUE(Found);
  EXPECT_TRUE(llvm::StringRef(*Found).ends_with("/extras/CUPTI/lib64/libcupti.so.13")) << *Found;
}
