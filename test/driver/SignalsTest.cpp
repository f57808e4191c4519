#include "DriverTier.h"

#include <csignal>
#include <unistd.h>

using namespace carve;
using Words = std::vector<std::string>;

namespace {

class SignalsTest : public DriverTierTest {
protected:
  /// Starts \p Arguments with an nvcc that waits to be ended.
  pid_t startHanging(Words Arguments) {
    write("cuda/bin/hang", "");
    Arguments.insert(Arguments.begin(), CARVE_NVCC_TOOL);
    pid_t Pid = start(Arguments);
    await("cuda/bin/log/pid");
    return Pid;
  }
  /// Whether nvcc runs. A process that ended and that nobody has waited for does not count.
  bool nvccRuns() const {
    auto Words = readProcFile("/proc/" + llvm::StringRef(read("cuda/bin/log/pid")).trim().str() +
                              "/cmdline");
    return !Words.value_or("").empty();
  }

  /// Whether nvcc ends. The system may take a moment to end a process that was killed.
  bool nvccEnds() const {
    for (int I = 0; I < 500 && nvccRuns(); ++I)
      ::usleep(10000);
    return !nvccRuns();
  }
};

} // namespace

TEST_F(SignalsTest, nvcc_endedByASignal_endsUsAlike) {
  for (auto [Name, Number] : {std::pair("TERM", SIGTERM), std::pair("KILL", SIGKILL),
                              std::pair("INT", SIGINT), std::pair("HUP", SIGHUP)}) {
    write("cuda/bin/signal", Name);
    for (Words Arguments : {Words{"-E", "x.cu"}, Compile}) {
      Ended E = carveNvcc(Arguments);
      EXPECT_EQ(E.Signal, Number) << Name;
      EXPECT_EQ(E.Stderr, "");
      EXPECT_EQ(names("tmp"), Words{});
    }
  }
  EXPECT_EQ(stored("units"), 0);
}

TEST_F(SignalsTest, signal_toCarveNvcc_endsNvccAndThenItself) {
  for (int Number : {SIGTERM, SIGINT, SIGHUP}) {
    pid_t Pid = startHanging(Compile);
    EXPECT_NE(names("tmp"), Words{});
    ASSERT_EQ(::kill(Pid, Number), 0);
    Ended E = wait(Pid);
    EXPECT_EQ(E.Signal, Number);
    EXPECT_EQ(E.Stdout + E.Stderr, "");
    EXPECT_TRUE(nvccEnds());
    EXPECT_EQ(names("tmp"), Words{});
    EXPECT_FALSE(exists("work/obj/saxpy.o"));
    std::filesystem::remove(path("cuda/bin/log/pid"));
  }
}

TEST_F(SignalsTest, handedOverNvcc_isTheSameProcess) {
  pid_t Pid = startHanging({"-E", "x.cu"});
  EXPECT_EQ(std::stoi(read("cuda/bin/log/pid")), Pid);
  ::kill(Pid, SIGTERM);
  EXPECT_EQ(wait(Pid).Signal, SIGTERM);
}

TEST_F(SignalsTest, keepDirectory_ofAKilledCompile_isUsedAgain) {
  pid_t Pid = startHanging(Compile);
  ::kill(Pid, SIGKILL);
  wait(Pid);
  ::kill(std::stoi(read("cuda/bin/log/pid")), SIGKILL);
  EXPECT_NE(names("tmp"), Words{});
  std::filesystem::remove(path("cuda/bin/hang"));
  EXPECT_EQ(carveNvcc(Compile).Status, 0);
  EXPECT_EQ(read("work/obj/saxpy.o"), "made by nvcc\n");
  EXPECT_EQ(names("tmp"), Words{});
  EXPECT_EQ(passthroughs(), "{}");
}

// If carve-nvcc alone is killed, nvcc ends with it, but the compiler that nvcc started does not. As
// long as that compiler may write into the keep directory, no other compile gets it.
TEST_F(SignalsTest, keepDirectory_whileAnOrphanedCompilerRuns_isNotUsed) {
  write("cuda/bin/hang-below", "");
  Words Arguments = Compile;
  Arguments.insert(Arguments.begin(), CARVE_NVCC_TOOL);
  pid_t Pid = start(Arguments);
  await("cuda/bin/log/pid");
  const std::string Kept = argumentsOf("compile").back();
  pid_t Orphan = std::stoi(read("cuda/bin/log/pid"));
  ::kill(Pid, SIGKILL);
  EXPECT_EQ(wait(Pid).Signal, SIGKILL);
  ASSERT_TRUE(nvccRuns());
  std::filesystem::remove(path("cuda/bin/hang-below"));

  EXPECT_EQ(carveNvcc(Compile).Status, 0);
  EXPECT_EQ(argumentsOf("compile").back(), Kept + "-1");
  EXPECT_EQ(read("work/obj/saxpy.o"), "made by nvcc\n");
  EXPECT_TRUE(std::filesystem::exists(Kept + "/saxpy.ptx"));
  EXPECT_EQ(passthroughs(), "{}");
  EXPECT_EQ(stored("units"), 1);

  ::kill(Orphan, SIGKILL);
  EXPECT_TRUE(nvccEnds());
  EXPECT_EQ(carveNvcc(Compile).Status, 0);
  EXPECT_EQ(argumentsOf("compile").back(), Kept);
  EXPECT_EQ(names("tmp"), Words{});
}

TEST_F(SignalsTest, keepDirectory_heldByTheSameCommand_isNotWaitedForLong) {
  pid_t First = startHanging(Compile);
  const std::string Kept = argumentsOf("compile").back();
  std::filesystem::remove(path("cuda/bin/hang"));
  Ended Second = carveNvcc(Compile);
  EXPECT_EQ(Second.Status, 0);
  EXPECT_EQ(Second.Stderr, "");
  EXPECT_EQ(argumentsOf("compile").back(), Kept + "-1");
  EXPECT_EQ(read("work/obj/saxpy.o"), "made by nvcc\n");
  EXPECT_TRUE(std::filesystem::exists(Kept));
  ::kill(First, SIGTERM);
  wait(First);
  EXPECT_EQ(names("tmp"), Words{});
  EXPECT_EQ(passthroughs(), "{}");
  EXPECT_EQ(stored("units"), 1);
}

TEST_F(SignalsTest, keepDirectory_whosePathIsInTheObject_isWaitedFor) {
  Words Debug = Compile;
  Debug.push_back("-g");
  pid_t First = startHanging(Debug);
  const std::string Kept = argumentsOf("compile").back();
  std::filesystem::remove(path("cuda/bin/hang"));
  Words Arguments = Debug;
  Arguments.insert(Arguments.begin(), CARVE_NVCC_TOOL);
  pid_t Second = start(Arguments);
  ::usleep(1500000);
  EXPECT_EQ(calls("compile"), 1u);
  ::kill(First, SIGTERM);
  wait(First);
  EXPECT_EQ(wait(Second).Status, 0);
  EXPECT_EQ(argumentsOf("compile").back(), Kept);
}

TEST_F(SignalsTest, keepDirectory_linkPlantedAtItsName_victimIsUntouched) {
  EXPECT_EQ(carveNvcc(Compile).Status, 0);
  const std::string Kept = argumentsOf("compile").back();
  std::filesystem::create_directories(path("victim/below"));
  write("victim/dear", "dear");
  write("victim/below/dear", "dear");
  // A link is planted under the directory's name, and under the name of its parent.
  for (std::string Planted : {Kept, std::filesystem::path(Kept).parent_path().string()}) {
    if (Planted == path("tmp"))
      continue;
    std::filesystem::create_directories(std::filesystem::path(Planted).parent_path());
    std::filesystem::create_directory_symlink(path("victim"), Planted);
    EXPECT_EQ(carveNvcc(Compile).Status, 0);
    EXPECT_EQ(names("victim"), (Words{"below", "dear"})) << Planted;
    EXPECT_EQ(names("victim/below"), Words{"dear"});
    EXPECT_EQ(read("work/obj/saxpy.o"), "made by nvcc\n");
    std::filesystem::remove(Planted);
    std::filesystem::remove_all(path("tmp"));
    std::filesystem::create_directory(path("tmp"));
  }
  EXPECT_EQ(passthroughs(), "{}");
}

TEST_F(SignalsTest, signal_outsideOfNvcc_childrenEndAndTemporariesGo) {
  // The file has its text from the moment at which it exists.
  const std::string PidFile = path("cuda/bin/log/pid");
  write("cuda/bin/ptxas", "#!/bin/sh\necho $$ >" + PidFile + ".new\nmv " + PidFile + ".new " +
                              PidFile + "\ntouch beside\nsleep 30\n");
  std::filesystem::permissions(path("cuda/bin/ptxas"), std::filesystem::perms::owner_all);
  write("pin.yaml",
        "carve-profile: 1\nkernels:\n  - kernel: \"_Z2avPf\"\n    variant: {cap: 32}\n");
  Env["CARVE_PROFILE"] = path("pin.yaml");
  for (int Number : {SIGTERM, SIGINT, SIGHUP}) {
    Words Arguments = Compile;
    Arguments.insert(Arguments.begin(), CARVE_NVCC_TOOL);
    pid_t Pid = start(Arguments);
    await("cuda/bin/log/pid");
    EXPECT_NE(names("tmp"), Words{});
    ASSERT_EQ(::kill(Pid, Number), 0);
    EXPECT_EQ(wait(Pid).Signal, Number);
    EXPECT_TRUE(nvccEnds()) << "ptxas still runs";
    EXPECT_EQ(names("tmp"), Words{});
    for (const std::string &Name : names("work/obj"))
      EXPECT_EQ(Name, "saxpy.o");
    std::filesystem::remove(path("cuda/bin/log/pid"));
  }
}

TEST_F(SignalsTest, signal_toTheCompanion_childrenEndAndTemporariesGo) {
  write("cuda/bin/hang-below", "");
  for (int Number : {SIGTERM, SIGINT, SIGHUP}) {
    pid_t Pid = start({CARVE_TOOL, "points", "--arch=sm_90", path("cuda/bin/kernels.ptx")});
    await("cuda/bin/log/pid");
    EXPECT_NE(names("tmp"), Words{});
    ASSERT_EQ(::kill(Pid, Number), 0);
    EXPECT_EQ(wait(Pid).Signal, Number);
    EXPECT_TRUE(nvccEnds()) << "the child of nvcc still runs";
    EXPECT_EQ(names("tmp"), Words{});
    std::filesystem::remove(path("cuda/bin/log/pid"));
  }
}

/// Kills the process or its group at moments spread over a compile.
TEST_F(SignalsTest, kill_atAnyMoment_outputIsWholeAndTheNextCommandSweeps) {
  write("cuda/bin/slow", "");
  // This ptxas copies a cubin to its output and is slow.
  write("cuda/bin/ptxas", "#!/bin/sh\nsleep 0.03\nfor Word; do\n  [ \"$Before\" = -o ] && cp " +
                              path("cuda/bin/kernels.cubin") +
                              " \"$Word\"\n  Before=$Word\ndone\n");
  std::filesystem::permissions(path("cuda/bin/ptxas"), std::filesystem::perms::owner_all);
  write("pin.yaml",
        "carve-profile: 1\nkernels:\n  - kernel: \"_Z2avPf\"\n    variant: {cap: 32}\n");
  Env["CARVE_PROFILE"] = path("pin.yaml");
  Before = [] { return ::setpgid(0, 0) == 0; };
  write("work/obj/saxpy.o", "old\n");
  constexpr int Signals[] = {SIGTERM, SIGKILL, SIGINT, SIGHUP};
  for (int I = 0; I < 48; ++I) {
    Words Arguments = Compile;
    Arguments.insert(Arguments.begin(), CARVE_NVCC_TOOL);
    pid_t Pid = start(Arguments);
    await("out/" + std::to_string(Pid) + ".err");
    ::usleep(4000 * (I + 1));
    ::kill(I % 2 ? -Pid : Pid, Signals[I / 2 % 4]);
    wait(Pid);
    std::string Output = read("work/obj/saxpy.o");
    EXPECT_TRUE(Output == "old\n" || Output == "made by nvcc\n") << I << ": " << Output;
    if (I % 8 != 7)
      continue;
    EXPECT_EQ(carveNvcc(Compile).Status, 0);
    EXPECT_EQ(read("work/obj/saxpy.o"), "made by nvcc\n");
    EXPECT_EQ(names("work/obj"), Words{"saxpy.o"});
    EXPECT_EQ(names("tmp"), Words{});
    EXPECT_EQ(carve({"store", "verify"}).Status, 0);
    write("work/obj/saxpy.o", "old\n");
  }
}
