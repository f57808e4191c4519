// Many compiles at once on one store: none waits for another, whatever becomes of it.
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

  /// A compile of the source to an object of its own.
  static Words compileOf(int I) {
    return {CARVE_NVCC_TOOL, "-O3", "-c", "src/saxpy.cu", "-o", "obj/" + std::to_string(I) + ".o"};
  }
  /// Starts compiles \p From up to \p To.
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
  /// Starts a compile of its own whose nvcc waits, and lets the nvcc of all others go on.
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

TEST_F(ManyTest, SixtyFourAtOnceAreAllRecorded) {
  expectAllGood(startMany(0, Count));
  EXPECT_EQ(stored("units"), Count);
  EXPECT_EQ(passthroughs(), "{}");
  EXPECT_EQ(names("tmp"), Words{});
  expectCleanStore();
}

// Were a lock held across a compile, those that come later would wait for the one that stands.
TEST_F(ManyTest, AStoppedCompileBlocksNobody) {
  pid_t Stopped = startWaiting();
  ASSERT_EQ(::kill(Stopped, SIGSTOP), 0);
  std::vector<pid_t> Pids = startMany(0, 16);
  for (pid_t Pid : Pids)
    ::kill(Pid, SIGSTOP); // Wherever each is,
  std::vector<pid_t> Others = startMany(16, 32);
  expectAllGood(Others);
  expectCleanStore();
  EXPECT_EQ(carve({"store", "prune"}).Status, 0);
  for (pid_t Pid : Pids)
    ::kill(Pid, SIGCONT); // it goes on from there.
  expectAllGood(Pids);
  ::kill(waitingNvcc(), SIGKILL);
  ::kill(Stopped, SIGCONT);
  EXPECT_EQ(wait(Stopped).Signal, SIGKILL); // As its nvcc.
  EXPECT_EQ(stored("units"), 32);
  EXPECT_EQ(names("tmp"), Words{});
  expectCleanStore();
}

TEST_F(ManyTest, KilledCompilesBlockNobodyAndSpoilNothing) {
  std::vector<pid_t> Killed = startMany(0, 24), Others = startMany(24, 48);
  for (size_t I = 0; I < Killed.size(); ++I) {
    ::usleep(5000);
    ::kill(Killed[I], SIGKILL);
  }
  expectAllGood(Others);
  // One that was killed at once has not even made the files of its streams.
  for (pid_t Pid : Killed)
    ::waitpid(Pid, nullptr, 0);
  expectCleanStore();
  std::vector<pid_t> Again = startMany(0, 24);
  for (pid_t Pid : Again)
    EXPECT_EQ(wait(Pid).Status, 0);
  EXPECT_GE(stored("units"), 24);
  expectCleanStore();
}

TEST_F(ManyTest, TheStoreMayBePrunedAndClearedMeanwhile) {
  std::vector<pid_t> Pids = startMany(0, Count);
  for (int I = 0; I < 8; ++I) {
    EXPECT_EQ(carve({"store", "clear"}).Status, 0);
    EXPECT_EQ(carve({"store", "prune", "--max-size=1"}).Status, 0);
    EXPECT_EQ(carve({"store", "stats"}).Status, 0);
  }
  expectAllGood(Pids);
  // What was cleared in the midst of a compile may be half: it is found, and made anew.
  carve({"store", "verify", "--repair"});
  expectCleanStore();
  expectAllGood(startMany(0, Count));
  EXPECT_EQ(stored("units"), Count);
  expectCleanStore();
}
