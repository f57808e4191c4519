// Compiles, tunings and store upkeep in parallel on one store, with the real nvcc.
#include "BuiltTools.h"
#include "Store/StoreUpkeep.h"

#include <atomic>
#include <csignal>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace carve;

namespace {

class Many : public BuiltToolsTest {
protected:
  static constexpr size_t Count = 8;
  const std::string Samples =
      std::string("--samples=") + CARVE_TEST_INPUTS "/samples/three.samples";

  void SetUp() override {
    BuiltToolsTest::SetUp();
    if (!IsSkipped())
      keepKernels({"bulky"});
  }
  Words compileOf(size_t I) const {
    return {CARVE_NVCC_PROGRAM, "-arch=sm_90", "-c", "main.cu", "-o", std::to_string(I) + ".o"};
  }
  /// Starts \p Argv as a child process in a group of its own, so that it can be stopped.
  pid_t start(Words Argv) {
    Words Lines = environment({"CARVE_LOG"});
    std::string Dir = Work.path();
    std::vector<char *> Arguments;
    for (std::string &Word : Argv)
      Arguments.push_back(Word.data());
    Arguments.push_back(nullptr);
    pid_t Pid = ::fork();
    if (Pid != 0)
      return Pid;
    ::setpgid(0, 0);
    for (const std::string &Line : Lines) {
      auto [Name, Value] = llvm::StringRef(Line).split('=');
      if (llvm::StringRef(Line).contains('='))
        ::setenv(Name.str().c_str(), Value.str().c_str(), 1);
      else
        ::unsetenv(Name.str().c_str());
    }
    if (::chdir(Dir.c_str()) == 0)
      ::execv(Arguments[0], Arguments.data());
    ::_exit(127);
  }
  static int statusOf(pid_t Pid) {
    int Status = -1;
    ::waitpid(Pid, &Status, 0);
    return WIFEXITED(Status) ? WEXITSTATUS(Status) : 128 + WTERMSIG(Status);
  }
  Words tuning() const { return {CARVE_PROGRAM, "tune", Samples, "--", "./app"}; }
  void expectCleanStore() {
    CommandResult R = carve({"store", "verify"});
    EXPECT_TRUE(R.succeeded()) << R.Stdout << R.Stderr;
  }
};

} // namespace

TEST_F(Many, compilesAndTunings_shareAStore) {
  build({"-O3", "-arch=sm_90", "--no-compress", "-c", "three.cu", "-o", "three.o"});
  std::vector<pid_t> Pids = {start(tuning()), start(tuning())};
  for (size_t I = 0; I < Count; ++I)
    Pids.push_back(start(compileOf(I)));
  for (pid_t Pid : Pids)
    EXPECT_EQ(statusOf(Pid), 0);
  EXPECT_EQ(storeStats(store()).Units, Count + 1);
  EXPECT_EQ(storeStats(store()).Reports, 2u);
  EXPECT_TRUE(storeStats(store()).Passthroughs.empty());
  expectCleanStore();
  expectNoTemporaries();
}

TEST_F(Many, stoppedAndKilledProcesses_blockNobody) {
  build({"-O3", "-arch=sm_90", "--no-compress", "-c", "three.cu", "-o", "three.o"});
  std::vector<pid_t> Stopped, Killed, Others;
  for (size_t I = 0; I < 4; ++I)
    Stopped.push_back(start(compileOf(I)));
  Stopped.push_back(start(tuning()));
  Killed = {start(compileOf(4)), start(compileOf(5)), start(tuning())};
  for (size_t I = 0; I < Stopped.size(); ++I) {
    ::usleep(120000); // Each one is at another point of its work.
    EXPECT_EQ(::kill(-Stopped[I], SIGSTOP), 0);
  }
  for (pid_t Pid : Killed) {
    ::kill(-Pid, SIGKILL);
    statusOf(Pid);
  }
  for (size_t I = 6; I < Count; ++I)
    Others.push_back(start(compileOf(I)));
  Others.push_back(start(tuning()));
  for (pid_t Pid : Others)
    EXPECT_EQ(statusOf(Pid), 0);
  EXPECT_TRUE(carve({"store", "prune"}).succeeded());
  expectCleanStore();
  for (pid_t Pid : Stopped)
    ::kill(-Pid, SIGCONT);
  for (pid_t Pid : Stopped)
    EXPECT_EQ(statusOf(Pid), 0);
  for (size_t I = 4; I < 6; ++I)
    EXPECT_EQ(statusOf(start(compileOf(I))), 0);
  EXPECT_EQ(storeStats(store()).Units, Count + 1);
  expectCleanStore();
}

TEST_F(Many, storeCleared_duringCompiles_isSound) {
  std::atomic<bool> Done = false;
  std::thread Upkeep([&] {
    while (!Done) {
      EXPECT_TRUE(run({CARVE_PROGRAM, "store", "clear"}, environment({})).succeeded());
      EXPECT_TRUE(
          run({CARVE_PROGRAM, "store", "prune", "--max-size=1"}, environment({})).succeeded());
    }
  });
  std::vector<pid_t> Pids;
  for (size_t I = 0; I < Count; ++I)
    Pids.push_back(start(compileOf(I)));
  for (pid_t Pid : Pids)
    EXPECT_EQ(statusOf(Pid), 0);
  Done = true;
  Upkeep.join();
  for (size_t I = 0; I < Count; ++I)
    EXPECT_TRUE(exists(std::to_string(I) + ".o"));
  run({CARVE_PROGRAM, "store", "verify", "--repair"}, environment({}));
  Pids.clear();
  for (size_t I = 0; I < Count; ++I)
    Pids.push_back(start(compileOf(I)));
  for (pid_t Pid : Pids)
    EXPECT_EQ(statusOf(Pid), 0);
  EXPECT_EQ(storeStats(store()).Units, Count);
  expectCleanStore();
}
