#include "Tune/Workload.h"

#include "TuneTesting.h"

#include "llvm/Support/FileSystem.h"

using namespace carve;

static ProgramOutput output(std::string Stdout, int Status = 0,
                            std::map<std::string, std::string> Files = {}) {
  return {Status, std::move(Stdout), std::move(Files)};
}

TEST(OutputReference, EqualOutputIsNoDifference) {
  OutputReference R;
  R.addDefault(output("sum 1\ndone\n", 3, {{"out.bin", "d1"}}));
  EXPECT_EQ(R.difference(output("sum 1\ndone\n", 3, {{"out.bin", "d1"}})), std::nullopt);
  EXPECT_EQ(R.unstableLines(), 0u);
}

TEST(OutputReference, SaysWhatDiffers) {
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
  // A last line without its end is another output.
  EXPECT_EQ(R.difference(output("sum 1\ndone", 0, {{"out.bin", "d1"}})),
            "2 lines of output instead of 3");
}

TEST(OutputReference, LinesThatTheDefaultChangesDoNotCount) {
  OutputReference R;
  R.addDefault(output("sum 1\ntime 0.11 s\nend\n"));
  R.addDefault(output("sum 1\ntime 0.12 s\nend\n"));
  EXPECT_EQ(R.unstableLines(), 1u);
  EXPECT_FALSE(R.stdoutUnstable());
  EXPECT_EQ(R.difference(output("sum 1\ntime 9 s\nend\n")), std::nullopt);
  EXPECT_EQ(R.difference(output("sum 2\ntime 0.11 s\nend\n")),
            "line 1 of the output is 'sum 2' instead of 'sum 1'");
  // A later run may show more; what is masked stays so.
  R.addDefault(output("sum 1\ntime 0.11 s\nEND\n"));
  EXPECT_EQ(R.unstableLines(), 2u);
}

TEST(OutputReference, AnUnstableNumberOfLinesLeavesStatusAndFiles) {
  OutputReference R;
  R.addDefault(output("a\n", 0, {{"f", "1"}}));
  R.addDefault(output("a\nb\n", 0, {{"f", "1"}}));
  EXPECT_TRUE(R.stdoutUnstable());
  EXPECT_EQ(R.difference(output("quite else\n", 0, {{"f", "1"}})), std::nullopt);
  EXPECT_EQ(R.difference(output("a\n", 1, {{"f", "1"}})), "exit status 1 instead of 0");
  EXPECT_EQ(R.difference(output("a\n", 0, {{"f", "2"}})), "the content of f differs");
}

TEST(OutputReference, FilesThatTheDefaultChangesDoNotCount) {
  OutputReference R;
  R.addDefault(output("", 0, {{"log", "1"}, {"result", "1"}}));
  R.addDefault(output("", 0, {{"log", "2"}, {"result", "1"}}));
  EXPECT_EQ(R.difference(output("", 0, {{"log", "3"}, {"result", "1"}})), std::nullopt);
  EXPECT_EQ(R.difference(output("", 0, {{"log", "1"}, {"result", "2"}})),
            "the content of result differs");
}

TEST(Workload, RunsUnderTheProbeWithOutputAndFiles) {
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
  EXPECT_FALSE(Asked.Env.count(probe::DelayVariable));
  EXPECT_FALSE(Run.succeeded());
  EXPECT_EQ(Run.Probe.totalNs(), 5u);
  EXPECT_EQ(Run.Output.Stdout, "sum 1\n");
  EXPECT_EQ(Run.Output.ExitStatus, 2);
  EXPECT_EQ(Run.Stderr, "warming up\n");
  EXPECT_EQ(Run.Output.FileDigests.at("absent"), "-");
  EXPECT_NE(Run.Output.FileDigests.at("result"), "-");
  // Nothing of the run is left.
  EXPECT_FALSE(llvm::sys::fs::exists(Asked.Env[probe::DirVariable]));
}

TEST(Workload, ImagesAndDelayReachTheProbe) {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-workload"));
  ASSERT_EQ(messageOf(writeFileAtomically(Dir.path() + "/0.cubin", "image")), "");
  ProbedProgram Runner;
  Runner.Program = [](const ProbedProgram::Run &, CommandResult &) { return ProbeHead + "end\n"; };
  WorkloadSpec Spec;
  Spec.Argv = {"app"};
  Spec.StdinPath = "in.txt";
  valueOf(runWorkload(Spec, {"p", ""}, {{"c1", Dir.path() + "/0.cubin"}}, Runner, 1500));
  EXPECT_EQ(Runner.Runs[0].Images["c1"], "image");
  EXPECT_EQ(Runner.Runs[0].Env[probe::DelayVariable], "1500");
  EXPECT_FALSE(Runner.Runs[0].Env.count(probe::CuptiVariable));
  EXPECT_EQ(Runner.Runs[0].Asked.StdinPath, "in.txt");
}

TEST(Workload, RecordsThatCannotBeReadAreAnError) {
  ProbedProgram Runner;
  Runner.Program = [](const ProbedProgram::Run &, CommandResult &) { return "garbage\n"; };
  WorkloadSpec Spec;
  Spec.Argv = {"app"};
  EXPECT_NE(messageOf(runWorkload(Spec, {"p", ""}, {}, Runner)).find("not a record of protocol"),
            std::string::npos);
}

TEST(Workload, TheDelayMakesAProgramVisiblyLonger) {
  RunRecord Run;
  Run.WallS = 2;
  EXPECT_EQ(revealingDelayNs(Run), 1000000000u);
  Run.Probe.Kernels = {launches("k", 32, 1000)}; // Ten launches.
  EXPECT_EQ(revealingDelayNs(Run), 100000000u);
  Run.WallS = 0.01;
  EXPECT_EQ(revealingDelayNs(Run), 30000000u);
}

TEST(Workload, CuptiIsFoundBesideNvcc) {
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
