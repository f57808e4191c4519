#include "Support/LinkLock.h"

#include "Support/Files.h"
#include "unit/ResultTesting.h"

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace carve;
using namespace std::chrono_literals;
namespace stdfs = std::filesystem;

namespace {

class LinkLockTest : public testing::Test {
protected:
  TempDir Dir = llvm::cantFail(TempDir::create("carve-lock"));
  const std::string Path = Dir.path() + "/a.held";

  size_t filesLeft() const {
    return size_t(std::distance(stdfs::directory_iterator(Dir.path()), {}));
  }

  /// Starts a process that takes the lock and is killed while it holds it.
  void killHolder() {
    int Ready[2];
    ASSERT_EQ(::pipe(Ready), 0);
    pid_t Child = ::fork();
    ASSERT_GE(Child, 0);
    if (Child == 0) {
      llvm::Expected<LinkLock> Held = LinkLock::take(Path, 10s);
      (void)!::write(Ready[1], Held ? "1" : "0", 1);
      ::pause();
      ::_exit(0);
    }
    char Got = 0;
    ASSERT_EQ(::read(Ready[0], &Got, 1), 1);
    EXPECT_EQ(Got, '1');
    ::kill(Child, SIGKILL);
    int Status;
    ASSERT_EQ(::waitpid(Child, &Status, 0), Child);
    ::close(Ready[0]);
    ::close(Ready[1]);
  }
};

} // namespace

TEST_F(LinkLockTest, lock_releasedAndTakenAgain_leavesNoFile) {
  for (int I = 0; I < 3; ++I) {
    LinkLock Held = llvm::cantFail(LinkLock::take(Path, 0ms));
    EXPECT_TRUE(Held.isHeld());
    EXPECT_EQ(filesLeft(), 1u);
  }
  EXPECT_EQ(filesLeft(), 0u);
}

TEST_F(LinkLockTest, holderLives_withoutPatience_isRefusedWithItsName) {
  LinkLock Held = llvm::cantFail(LinkLock::take(Path, 0ms));
  std::string Message = messageOf(LinkLock::take(Path, 0ms));
  EXPECT_NE(Message.find("process " + std::to_string(::getpid()) + " on host "), std::string::npos)
      << Message;
  EXPECT_TRUE(Held.isHeld());
  EXPECT_EQ(filesLeft(), 1u);
}

TEST_F(LinkLockTest, holderWasKilled_lockTakenOverAtOnce) {
  killHolder();
  ASSERT_TRUE(stdfs::exists(Path));
  LinkLock Held = llvm::cantFail(LinkLock::take(Path, 0ms));
  EXPECT_TRUE(Held.isHeld());
  EXPECT_EQ(filesLeft(), 1u);
}

/// A process may be killed while it removes the lock of another that was killed.
TEST_F(LinkLockTest, breakerWasKilledToo_lockTakenOver) {
  killHolder();
  stdfs::copy_file(Path, Path + ".carve-break");
  LinkLock Held = llvm::cantFail(LinkLock::take(Path, 10s));
  EXPECT_TRUE(Held.isHeld());
  EXPECT_EQ(filesLeft(), 1u);
}

TEST_F(LinkLockTest, folderMissing_fails) {
  EXPECT_NE(messageOf(LinkLock::take(Dir.path() + "/none/a", 0ms)), "");
}

/// Each holder makes a file that no other may find. Some are killed while they hold the lock.
TEST_F(LinkLockTest, manyProcessesAndKills_neverTwoHolders) {
  constexpr int Processes = 16, Times = 25;
  const std::string Owner = Dir.path() + "/owner", Clash = Dir.path() + "/clash";
  std::vector<pid_t> Children;
  for (int Index = 0; Index < Processes; ++Index) {
    pid_t Child = ::fork();
    ASSERT_GE(Child, 0);
    if (Child == 0) {
      for (int Time = 0; Time < Times; ++Time) {
        llvm::Expected<LinkLock> Held = LinkLock::take(Path, 60s);
        if (!Held)
          ::_exit(1);
        int Fd = ::open(Owner.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600);
        if (Fd < 0)
          std::ofstream(Clash + std::to_string(Index));
        if (Index % 4 == 0 && Time == Times / 2) {
          ::unlink(Owner.c_str());
          ::kill(::getpid(), SIGKILL);
        }
        ::close(Fd);
        ::unlink(Owner.c_str());
      }
      ::_exit(0);
    }
    Children.push_back(Child);
  }
  int Killed = 0;
  for (pid_t Child : Children) {
    int Status = 0;
    ASSERT_EQ(::waitpid(Child, &Status, 0), Child);
    Killed += WIFSIGNALED(Status);
    EXPECT_TRUE(WIFSIGNALED(Status) || WEXITSTATUS(Status) == 0);
  }
  EXPECT_EQ(Killed, Processes / 4);
  for (int Index = 0; Index < Processes; ++Index)
    EXPECT_FALSE(stdfs::exists(Clash + std::to_string(Index))) << Index;
}

/// The holder on another machine cannot be seen, only that it renews the lock.
TEST_F(LinkLockTest, holderElsewhere_renewing_isNotTakenOver) {
  {
    LinkLock Held = llvm::cantFail(LinkLock::take(Path, 0ms));
    stdfs::copy_file(Path, Path + "2");
  }
  std::string Text = valueOf(readFile(Path + "2"));
  size_t At = Text.find("neighbourhood ");
  ASSERT_NE(At, std::string::npos);
  Text.insert(At + 14, "elsewhere");
  std::ofstream(Path) << Text;
  pid_t Renewer = ::fork();
  ASSERT_GE(Renewer, 0);
  if (Renewer == 0)
    for (;;) {
      ::utimensat(AT_FDCWD, Path.c_str(), nullptr, 0);
      ::usleep(20000);
    }
  std::string Message = messageOf(LinkLock::take(Path, 0ms));
  ::kill(Renewer, SIGKILL);
  ::waitpid(Renewer, nullptr, 0);
  EXPECT_NE(Message.find("holds this lock"), std::string::npos) << Message;
  EXPECT_EQ(valueOf(readFile(Path)), Text);
}
