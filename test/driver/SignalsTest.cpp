#include "DriverTier.h"

#include <csignal>
#include <unistd.h>
#include <utility>

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
  /// One that nobody has waited for does not.
  bool nvccRuns() const {
    auto Words = readProcFile("/proc/" + llvm::StringRef(read("cuda/bin/log/pid")).trim().str() +
                              "/cmdline");
    return !Words.value_or("").empty();
  }
};

} // namespace

TEST_F(SignalsTest, WeEndAsNvccEnded) {
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

TEST_F(SignalsTest, WhatWeAreSentEndsNvccAndThenUs) {
  for (int Number : {SIGTERM, SIGINT, SIGHUP}) {
    pid_t Pid = startHanging(Compile);
    EXPECT_NE(names("tmp"), Words{});
    ASSERT_EQ(::kill(Pid, Number), 0);
    Ended E = wait(Pid);
    EXPECT_EQ(E.Signal, Number);
    EXPECT_EQ(E.Stdout + E.Stderr, "");
    EXPECT_FALSE(nvccRuns());
    EXPECT_EQ(names("tmp"), Words{});
    EXPECT_FALSE(exists("work/obj/saxpy.o"));
    std::filesystem::remove(path("cuda/bin/log/pid"));
  }
}

TEST_F(SignalsTest, HandedOverNvccIsThisProcess) {
  pid_t Pid = startHanging({"-E", "x.cu"});
  EXPECT_EQ(std::stoi(read("cuda/bin/log/pid")), Pid);
  ::kill(Pid, SIGTERM);
  EXPECT_EQ(wait(Pid).Signal, SIGTERM);
}

TEST_F(SignalsTest, WhatAKilledCompileLeftIsUsedAgain) {
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

// Killed alone, we leave an nvcc that still writes: its directory is not given to another.
TEST_F(SignalsTest, AnOrphanedNvccKeepsItsDirectory) {
  pid_t Pid = startHanging(Compile);
  pid_t Orphan = std::stoi(read("cuda/bin/log/pid"));
  ::kill(Pid, SIGKILL);
  EXPECT_EQ(wait(Pid).Signal, SIGKILL);
  ASSERT_TRUE(nvccRuns());
  std::filesystem::remove(path("cuda/bin/hang"));
  Words Before = names("tmp");
  EXPECT_EQ(Before.size(), 2u);
  std::string Kept = "tmp/" + Before[0];
  Words Written = names(Kept);
  EXPECT_FALSE(Written.empty());

  EXPECT_EQ(carveNvcc(Compile).Status, 0);
  EXPECT_EQ(argumentsOf("compile"), Compile); // As it is.
  EXPECT_EQ(read("work/obj/saxpy.o"), "made by nvcc\n");
  EXPECT_EQ(names("tmp"), Before);
  EXPECT_EQ(names(Kept), Written);
  EXPECT_EQ(passthroughs(), "{\"no-keep-dir\":1}");

  ::kill(Orphan, SIGKILL);
  for (int I = 0; I < 500 && nvccRuns(); ++I)
    ::usleep(10000);
  EXPECT_EQ(carveNvcc(Compile).Status, 0);
  EXPECT_EQ(names("tmp"), Words{});
  EXPECT_EQ(passthroughs(), "{\"no-keep-dir\":1}");
  EXPECT_EQ(stored("units"), 1);
}

TEST_F(SignalsTest, ABusyKeepDirectoryIsLeftToItsOwner) {
  pid_t First = startHanging(Compile);
  std::filesystem::remove(path("cuda/bin/hang"));
  Words Before = names("tmp");
  std::string Store = std::exchange(Env["CARVE_STORE"], "/proc/carve-store");
  EXPECT_EQ(carveNvcc(Compile).Status, 0);
  EXPECT_EQ(names("tmp"), Before); // Nothing is counted in a store of this compile alone.
  Env["CARVE_STORE"] = Store;
  Ended Second = carveNvcc(Compile);
  EXPECT_EQ(Second.Status, 0);
  EXPECT_EQ(Second.Stderr, "");
  EXPECT_EQ(argumentsOf("compile"), Compile); // As it is.
  EXPECT_EQ(read("work/obj/saxpy.o"), "made by nvcc\n");
  EXPECT_NE(names("tmp"), Words{});
  ::kill(First, SIGTERM);
  wait(First);
  EXPECT_EQ(names("tmp"), Words{});
  EXPECT_EQ(passthroughs(), "{\"no-keep-dir\":1}");
}
