// The words and streams that reach nvcc, and what carve-nvcc returns of its results.
#include "DriverTier.h"

using namespace carve;
using Words = std::vector<std::string>;

namespace {
class CompileTest : public DriverTierTest {};
} // namespace

TEST_F(CompileTest, otherCommand_isPassedOnWordByWord) {
  Words Odd = {"-E", "", "a b", "it's", "\"quoted\"", "$HOME", "*", "-DX='y z'", "\\", "-"};
  EXPECT_EQ(carveNvcc(Odd).Status, 0);
  EXPECT_EQ(argumentsOf("compile"), Odd);
  EXPECT_EQ(calls("dryrun"), 0u);
}

TEST_F(CompileTest, compile_addsTheKeepDirectoryAfterTheUsersWords) {
  Words Odd = {"-c",       "src/saxpy.cu", "-DNAME=\"a b\"", "-D", "X=$HOME", "-I",
               "in clude", "-o",           "obj/saxpy.o"};
  Ended E = carveNvcc(Odd);
  EXPECT_EQ(E.Status, 0);
  Words Seen = argumentsOf("compile");
  ASSERT_EQ(Seen.size(), Odd.size() + 3);
  EXPECT_TRUE(std::equal(Odd.begin(), Odd.end(), Seen.begin()));
  EXPECT_EQ(Seen[Odd.size()], "--keep");
  EXPECT_EQ(Seen[Odd.size() + 1], "--keep-dir");
  EXPECT_EQ(Seen.back().find(path("tmp/carve-nvcc-")), 0u) << Seen.back();
  EXPECT_EQ(names("tmp"), Words{}); // It was removed together with its lock.
  EXPECT_EQ(stored("units"), 1);
  EXPECT_EQ(passthroughs(), "{}");
}

TEST_F(CompileTest, keepDirectory_ofACommand_isAlwaysTheSame) {
  carveNvcc(Compile);
  std::string First = argumentsOf("compile").back();
  carveNvcc(Compile);
  EXPECT_EQ(argumentsOf("compile").back(), First);
  Words Other = Compile;
  Other.push_back("-g");
  carveNvcc(Other);
  EXPECT_NE(argumentsOf("compile").back(), First);
}

TEST_F(CompileTest, tmpdir_empty_isIgnored) {
  Env["TMPDIR"] = "";
  EXPECT_EQ(carveNvcc(Compile).Status, 0);
  EXPECT_EQ(argumentsOf("compile").back().find("/tmp/carve-nvcc-"), 0u);
}

TEST_F(CompileTest, ownOptions_doNotReachNvcc) {
  for (Words Arguments : {Words{"-E", "x.cu"}, Compile}) {
    Words Mixed = Arguments;
    Mixed.insert(Mixed.begin() + 1, {"--carve-run=none", "--carve-max-runs=3"});
    EXPECT_EQ(carveNvcc(Mixed).Status, 0);
    Words Seen = argumentsOf("compile");
    Seen.resize(Arguments.size());
    EXPECT_EQ(Seen, Arguments);
  }
}

TEST_F(CompileTest, streamsAndStatus_areNvccs) {
  std::string Noise("to stdout\0\xff without an end", 26);
  write("cuda/bin/stdout", Noise);
  write("cuda/bin/stderr", "x.cu(3): warning: something\n");
  for (Words Arguments : {Words{"-E", "x.cu"}, Compile})
    for (int Status : {0, 1, 2, 255}) {
      write("cuda/bin/status", std::to_string(Status));
      Ended E = carveNvcc(Arguments);
      EXPECT_EQ(E.Status, Status);
      EXPECT_EQ(E.Stdout, Noise);
      EXPECT_EQ(E.Stderr, "x.cu(3): warning: something\n");
      EXPECT_EQ(names("tmp"), Words{});
    }
}

TEST_F(CompileTest, compile_printsNothingOfItsOwn) {
  for (Words Arguments : {Words{"-E", "x.cu"}, Compile}) {
    Ended E = carveNvcc(Arguments);
    EXPECT_EQ(E.Stdout + E.Stderr, "");
  }
}

TEST_F(CompileTest, failedCompile_leavesNoOutputAndNoUnit) {
  write("cuda/bin/status", "2");
  EXPECT_EQ(carveNvcc(Compile).Status, 2);
  EXPECT_FALSE(exists("work/obj/saxpy.o"));
  EXPECT_EQ(stored("units"), 0);
}

TEST_F(CompileTest, executable_isOneUnitPerDeviceSource) {
  plan("dryrun-executable-13.0.88.txt");
  Ended E = carveNvcc({"src/saxpy.cu", "src/scale.cu", "src/host.cpp", "-o", "app"});
  EXPECT_EQ(E.Status, 0);
  EXPECT_EQ(E.Stderr, "");
  EXPECT_EQ(read("work/app"), "made by nvcc\n");
  EXPECT_EQ(stored("units"), 2);
}

TEST_F(CompileTest, planOfUnknownShape_keepsNvccsOutput) {
  write("cuda/bin/plan", "#$ magic --of=tomorrow\n");
  Ended E = carveNvcc(Compile);
  EXPECT_EQ(E.Status, 0);
  EXPECT_EQ(E.Stdout + E.Stderr, "");
  EXPECT_EQ(read("work/obj/saxpy.o"), "made by nvcc\n");
  EXPECT_EQ(passthroughs(), "{\"unknown-plan\":1}");
}

TEST_F(CompileTest, passthroughs_areCountedByReason) {
  for (int I = 0; I < 3; ++I)
    carveNvcc({"-E", "x.cu"});
  carveNvcc({"-c", "host.cpp"});
  carveNvcc(Compile);
  EXPECT_EQ(passthroughs(), "{\"no-device-source\":1,\"preprocess\":3}");
  Ended Text = carve({"store", "stats"});
  EXPECT_NE(Text.Stdout.find("preprocess  3"), std::string::npos) << Text.Stdout;
}

TEST_F(CompileTest, outputInAnotherFolder_isMade) {
  std::filesystem::create_directory(path("elsewhere"));
  for (std::string Output : {path("elsewhere/k.o"), std::string("../elsewhere/l.o")}) {
    Words Arguments = Compile;
    Arguments.back() = Output;
    EXPECT_EQ(carveNvcc(Arguments).Status, 0);
  }
  EXPECT_EQ(names("elsewhere"), (Words{"k.o", "l.o"}));
  EXPECT_EQ(stored("units"), 2);
}

TEST_F(CompileTest, log_tellsWhatWasDone) {
  Env["CARVE_LOG"] = path("log.txt");
  carveNvcc({"-E", "x.cu"});
  EXPECT_NE(read("log.txt").find("handed to nvcc: preprocess"), std::string::npos);
  Words Arguments = Compile;
  Arguments.push_back("--carve-log=" + path("other.txt"));
  carveNvcc(Arguments);
  EXPECT_NE(read("other.txt").find("run: " + path("cuda/bin/nvcc") + " -O3 -c"), std::string::npos);
}

namespace {

/// Compiles for which a decision is known. nvcc writes to a temporary file, and its output is put
/// into place.
class DecidedCompileTest : public DriverTierTest {
protected:
  DecidedCompileTest() {
    write("pin.yaml",
          "carve-profile: 1\nkernels:\n  - kernel: \"_Z2avPf\"\n    variant: {cap: 32}\n");
    Env["CARVE_PROFILE"] = path("pin.yaml");
  }
};

} // namespace

TEST_F(DecidedCompileTest, emissionFails_nvccsOutputIsPutIntoPlace) {
  // This nvcc has no ptxas beside it.
  Ended E = carveNvcc(Compile);
  EXPECT_EQ(E.Status, 0);
  EXPECT_EQ(E.Stdout + E.Stderr, "");
  EXPECT_NE(argumentsOf("compile")[4], "obj/saxpy.o");
  EXPECT_EQ(read("work/obj/saxpy.o"), "made by nvcc\n");
  EXPECT_EQ(names("work/obj"), Words{"saxpy.o"});
  EXPECT_EQ(names("tmp"), Words{});
}

TEST_F(DecidedCompileTest, nvccFails_oldOutputStays) {
  write("work/obj/saxpy.o", "old");
  write("cuda/bin/status", "2");
  EXPECT_EQ(carveNvcc(Compile).Status, 2);
  EXPECT_EQ(read("work/obj/saxpy.o"), "old");
  EXPECT_EQ(names("work/obj"), Words{"saxpy.o"});
}

TEST_F(DecidedCompileTest, unreadableProfile_isAUsageError) {
  write("pin.yaml", "carve-profile: 1\nkernels:\n  - kernel: k\n    variant: {caps: 32}\n");
  Ended E = carveNvcc(Compile);
  EXPECT_EQ(E.Status, 1);
  EXPECT_NE(E.Stderr.find("carve-nvcc: error: " + path("pin.yaml") + ":4"), std::string::npos)
      << E.Stderr;
  EXPECT_EQ(calls("compile"), 0u);
}
