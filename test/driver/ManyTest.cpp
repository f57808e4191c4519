// Many compiles at once on one store. None waits for another, whatever happens to it.
#include "DriverTier.h"

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace carve;
using Words = std::vector<std::string>;

namespace {

class ManyTest : public DriverTierTest {
protected:
  static constexpr int Count = 64;

  /// Returns a compile of the source to an object of its own.
  static Words compileOf(int I) {
    return {CARVE_NVCC_TOOL, "-O3", "-c", "src/saxpy.cu", "-o", "obj/" + std::to_string(I) + ".o"};
  }
  /// Starts the compiles from \p From up to, but not including, \p To.
  std::vector<pid_t> startMany(int From, int To) {
    std::vector<pid_t> Pids;
    for (int I = From; I < To; ++I)
      Pids.push_back(start(compileOf(I)));
    return Pids;
  }
  void expectAllGood(const std::vector<pid_t> &Pids) {
    for (pid_t Pid : Pids) {
      Ended E = wait(Pid);
      EXPECT_EQ(E.Status, 0);
      EXPECT_EQ(E.Stdout + E.Stderr, "");
    }
  }
  void expectCleanStore() {
    Ended E = carve({"store", "verify"});
    EXPECT_EQ(E.Status, 0) << E.Stdout;
    EXPECT_EQ(E.Stdout, "0 fault(s)\n");
  }
  /// Starts one more compile whose nvcc waits. The nvcc of all other compiles does not wait.
  pid_t startWaiting() {
    write("cuda/bin/hang", "");
    pid_t Pid = start(compileOf(1000));
    await("cuda/bin/log/pid");
    std::filesystem::remove(path("cuda/bin/hang"));
    return Pid;
  }
  pid_t waitingNvcc() const { return std::stoi(read("cuda/bin/log/pid")); }
};

} // namespace

TEST_F(ManyTest, compiles_inParallel_areAllRecorded) {
  expectAllGood(startMany(0, Count));
  EXPECT_EQ(stored("units"), Count);
  EXPECT_EQ(passthroughs(), "{}");
  EXPECT_EQ(names("tmp"), Words{});
  expectCleanStore();
}

// If a lock were held during a compile, later compiles would wait for the stopped one.
TEST_F(ManyTest, stoppedCompile_blocksNobody) {
  pid_t Stopped = startWaiting();
  ASSERT_EQ(::kill(Stopped, SIGSTOP), 0);
  std::vector<pid_t> Pids = startMany(0, 16);
  for (pid_t Pid : Pids)
    ::kill(Pid, SIGSTOP); // Each one stops wherever it is.
  std::vector<pid_t> Others = startMany(16, 32);
  expectAllGood(Others);
  expectCleanStore();
  EXPECT_EQ(carve({"store", "prune"}).Status, 0);
  for (pid_t Pid : Pids)
    ::kill(Pid, SIGCONT); // Each one continues from there.
  expectAllGood(Pids);
  ::kill(waitingNvcc(), SIGKILL);
  ::kill(Stopped, SIGCONT);
  EXPECT_EQ(wait(Stopped).Signal, SIGKILL); // It ends as its nvcc did.
  EXPECT_EQ(stored("units"), 32);
  EXPECT_EQ(names("tmp"), Words{});
  expectCleanStore();
}

TEST_F(ManyTest, killedCompiles_blockNobodyAndDamageNothing) {
  std::vector<pid_t> Killed = startMany(0, 24), Others = startMany(24, 48);
  for (size_t I = 0; I < Killed.size(); ++I) {
    ::usleep(5000);
    ::kill(Killed[I], SIGKILL);
  }
  expectAllGood(Others);
  // A compile that was killed at once has not even made the files of its streams.
  for (pid_t Pid : Killed)
    ::waitpid(Pid, nullptr, 0);
  expectCleanStore();
  std::vector<pid_t> Again = startMany(0, 24);
  for (pid_t Pid : Again)
    EXPECT_EQ(wait(Pid).Status, 0);
  EXPECT_GE(stored("units"), 24);
  expectCleanStore();
}

TEST_F(ManyTest, storePrunedAndCleared_duringCompiles_isSound) {
  std::vector<pid_t> Pids = startMany(0, Count);
  for (int I = 0; I < 8; ++I) {
    EXPECT_EQ(carve({"store", "clear"}).Status, 0);
    EXPECT_EQ(carve({"store", "prune", "--max-size=1"}).Status, 0);
    EXPECT_EQ(carve({"store", "stats"}).Status, 0);
  }
  expectAllGood(Pids);
  // A record that was cleared during a compile may be incomplete. It is found and written again.
  carve({"store", "verify", "--repair"});
  expectCleanStore();
  expectAllGood(startMany(0, Count));
  EXPECT_EQ(stored("units"), Count);
  expectCleanStore();
}
