#include "Support/CommandRunner.h"
#include "Support/Clock.h"
#include "Support/Error.h"
#include "Support/TempDir.h"

#include "gtest/gtest.h"

#include <csignal>
#include <cstdio>
#include <pty.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace carve;

static CommandResult runOrDie(const Command &C) {
  ProcessRunner Runner;
  llvm::Expected<CommandResult> R = Runner.run(C);
  EXPECT_TRUE(bool(R));
  return R ? std::move(*R) : (llvm::consumeError(R.takeError()), CommandResult());
}

static Command shell(std::string Script) {
  Command C;
  C.Argv = {"/bin/sh", "-c", std::move(Script)};
  C.CaptureStdout = C.CaptureStderr = true;
  return C;
}

TEST(CommandRunner, streams_captured_areComplete) {
  CommandResult R = runOrDie(shell("head -c 300000 /dev/zero; echo oops >&2; exit 3"));
  EXPECT_EQ(R.Stdout.size(), 300000u);
  EXPECT_EQ(R.Stderr, "oops\n");
  EXPECT_EQ(R.ExitStatus, 3);
  EXPECT_EQ(R.Signal, 0);
}

TEST(CommandRunner, arguments_withShellSyntax_areNotInterpreted) {
  Command C;
  C.Argv = {"/bin/echo", "$HOME; *", "a  b"};
  C.CaptureStdout = true;
  EXPECT_EQ(runOrDie(C).Stdout, "$HOME; * a  b\n");
}

TEST(CommandRunner, environment_changed_isSeenByTheChild) {
  ASSERT_EQ(::setenv("CARVE_TEST_GONE", "1", 1), 0);
  Command C = shell("echo ${CARVE_TEST_GONE-unset} $CARVE_TEST_NEW");
  C.Environment = {"CARVE_TEST_GONE", "CARVE_TEST_NEW=a=b"};
  EXPECT_EQ(runOrDie(C).Stdout, "unset a=b\n");
}

TEST(CommandRunner, childKilledBySignal_run_statusIsThatOfAShell) {
  CommandResult R = runOrDie(shell("kill -SEGV $$"));
  EXPECT_EQ(R.Signal, SIGSEGV);
  EXPECT_EQ(R.ExitStatus, 128 + SIGSEGV);
}

TEST(CommandRunner, timeout_passed_wholeGroupIsKilled) {
  Command C = shell("sleep 60 & echo $!; wait");
  C.TimeoutS = 0.3;
  CommandResult R = runOrDie(C);
  EXPECT_TRUE(R.TimedOut);
  EXPECT_LT(R.WallS, 10);
  pid_t Grandchild = std::stoi(R.Stdout);
  // The killed process may still wait for init to reap it; a signal then finds a zombie or nothing.
  for (int I = 0; I < 100 && ::kill(Grandchild, 0) == 0; ++I)
    ::usleep(10000);
  std::string Stat = "/proc/" + std::to_string(Grandchild) + "/stat";
  Command State = shell("cat " + Stat + " 2>/dev/null | cut -d' ' -f3");
  std::string Letter = runOrDie(State).Stdout;
  EXPECT_TRUE(Letter.empty() || Letter == "Z\n") << Letter;
}

TEST(CommandRunner, timeLimitedRun_takesLonger_isKilled) {
  ProcessRunner Runner;
  TimeLimitedRunner Limited(Runner, [] { return 0.3; });
  Command C;
  C.CaptureStdout = C.CaptureStderr = true;
  C.Argv = {"sleep", "60"};
  CommandResult Result = llvm::cantFail(Limited.run(C));
  EXPECT_TRUE(Result.TimedOut);
  EXPECT_LT(Result.WallS, 30);
  C.Argv = {"echo", "x"};
  EXPECT_EQ(llvm::cantFail(Limited.run(C)).Stdout, "x\n");
  EXPECT_TRUE(llvm::cantFail(TimeLimitedRunner(Runner, [] { return 0; }).run(C)).succeeded());
}

TEST(CommandRunner, timeLimitedRun_limitBecomesKnownLater_isKilled) {
  ProcessRunner Runner;
  std::atomic<double> LimitS = 0;
  TimeLimitedRunner Limited(Runner, [&] { return LimitS.load(); });
  std::thread Later([&] {
    ::usleep(300'000);
    LimitS = 0.1;
  });
  Command C;
  C.CaptureStdout = C.CaptureStderr = true;
  C.Argv = {"sleep", "60"};
  CommandResult Result = llvm::cantFail(Limited.run(C));
  Later.join();
  EXPECT_TRUE(Result.TimedOut);
  EXPECT_GT(Result.WallS, 0.25);
  EXPECT_LT(Result.WallS, 30);
}

TEST(CommandRunner, deadline_passes_processAndItsChildrenAreKilled) {
  ProcessRunner Runner;
  const double EndS = steadySeconds() + 0.4;
  DeadlineRunner InTime(
      Runner, [&]() -> std::optional<double> { return std::max(0.0, EndS - steadySeconds()); });
  // As nvcc does it: the process that is killed waits for another one, which holds the pipes.
  Command C = shell("sleep 61 & echo $!; wait");
  CommandResult Result = llvm::cantFail(InTime.run(C));
  EXPECT_TRUE(Result.TimedOut);
  EXPECT_LT(Result.WallS, 30);
  pid_t Grandchild = std::stoi(Result.Stdout);
  for (int I = 0; I < 500 && ::kill(Grandchild, 0) == 0; ++I)
    ::usleep(10000);
  EXPECT_NE(::kill(Grandchild, 0), 0);
  // No time is left for another one.
  C.Argv = {"sleep", "62"};
  EXPECT_TRUE(llvm::cantFail(InTime.run(C)).TimedOut);
  EXPECT_NE(llvm::toString(runChecked(InTime, C).takeError()).find("its time was up"),
            std::string::npos);
}

TEST(CommandRunner, noDeadline_ownLimitOfTheCommandHolds) {
  ProcessRunner Runner;
  DeadlineRunner Never(Runner, [] { return std::nullopt; });
  TimeLimitedRunner Limited(Never, [] { return 0.3; });
  EXPECT_TRUE(llvm::cantFail(Never.run(shell("true"))).succeeded());
  Command C = shell("sleep 63");
  EXPECT_TRUE(llvm::cantFail(Limited.run(C)).TimedOut);
  DeadlineRunner Later(Runner, [] { return 100.0; });
  EXPECT_TRUE(llvm::cantFail(TimeLimitedRunner(Later, [] { return 0.3; }).run(C)).TimedOut);
}

TEST(CommandRunner, daemonHoldingThePipes_run_returns) {
  Command C = shell("setsid sleep 5 & echo started");
  C.TimeoutS = 4;
  CommandResult R = runOrDie(C);
  EXPECT_FALSE(R.TimedOut);
  EXPECT_LT(R.WallS, 3);
  EXPECT_EQ(R.Stdout, "started\n");
}

TEST(CommandRunner, programOrDirectory_missing_fails) {
  ProcessRunner Runner;
  Command C;
  C.Argv = {"/nowhere/tool"};
  llvm::Expected<CommandResult> R = Runner.run(C);
  ASSERT_FALSE(bool(R));
  EXPECT_NE(llvm::toString(R.takeError()).find("/nowhere/tool"), std::string::npos);
  C = shell("true");
  C.Dir = "/nowhere";
  R = Runner.run(C);
  ASSERT_FALSE(bool(R));
  llvm::consumeError(R.takeError());
}

TEST(CommandRunner, stdinPath_devNull_givesEmptyInput) {
  Command C = shell("cat; echo end");
  C.StdinPath = "/dev/null";
  EXPECT_EQ(runOrDie(C).Stdout, "end\n");
}

TEST(CommandRunner, runChecked_nonZeroStatus_failsAsToolFailure) {
  ProcessRunner Runner;
  llvm::Expected<CommandResult> R = runChecked(Runner, shell("echo why >&2; exit 7"));
  ASSERT_FALSE(bool(R));
  llvm::handleAllErrors(R.takeError(), [](const ToolFailure &F) {
    EXPECT_EQ(F.exitStatus(), 7);
    EXPECT_EQ(F.standardError(), "why\n");
  });
}

namespace {

/// Replaces the two streams of the test program by others while an object lives.
class OwnStreams {
public:
  OwnStreams(int Out, int Err) : OldOut(::dup(1)), OldErr(::dup(2)) {
    ::dup2(Out, 1);
    ::dup2(Err, 2);
  }
  ~OwnStreams() {
    ::dup2(OldOut, 1);
    ::dup2(OldErr, 2);
    ::close(OldOut);
    ::close(OldErr);
  }

private:
  int OldOut, OldErr;
};

std::string textOf(std::FILE *F) {
  std::string Text(1000, '\0');
  std::rewind(F);
  Text.resize(std::fread(Text.data(), 1, Text.size(), F));
  return Text;
}

Command teed(std::string Script) {
  Command C = shell(std::move(Script));
  C.CaptureStdout = C.CaptureStderr = false;
  C.Tee = true;
  return C;
}

} // namespace

TEST(CommandRunner, tee_bothStreams_arePassedOnAndKept) {
  std::FILE *Out = std::tmpfile(), *Err = std::tmpfile();
  CommandResult R;
  {
    OwnStreams Own(fileno(Out), fileno(Err));
    R = runOrDie(teed("echo out; echo err >&2; exit 3"));
  }
  EXPECT_TRUE(R.Remembered);
  EXPECT_EQ(R.ExitStatus, 3);
  EXPECT_EQ(R.Stdout, "out\n");
  EXPECT_EQ(R.Stderr, "err\n");
  EXPECT_EQ(textOf(Out), "out\n");
  EXPECT_EQ(textOf(Err), "err\n");
  std::fclose(Out);
  std::fclose(Err);
}

TEST(CommandRunner, tee_mergedStreams_orderIsKept) {
  std::FILE *Both = std::tmpfile();
  CommandResult R;
  {
    OwnStreams Own(fileno(Both), fileno(Both));
    EXPECT_TRUE(StreamShape::ours().Merged);
    R = runOrDie(teed("for i in 1 2 3; do echo out; echo err >&2; done"));
  }
  EXPECT_EQ(R.Stdout, "out\nerr\nout\nerr\nout\nerr\n");
  EXPECT_EQ(R.Stderr, "");
  EXPECT_EQ(textOf(Both), R.Stdout);
  std::fclose(Both);
}

TEST(CommandRunner, tee_ofATerminal_isATerminal) {
  int Master = -1, Slave = -1;
  if (::openpty(&Master, &Slave, nullptr, nullptr, nullptr) != 0)
    GTEST_SKIP() << "no terminals here";
  CommandResult R;
  {
    OwnStreams Own(Slave, Slave);
    R = runOrDie(teed("test -t 1 && test -t 2 && echo yes; stty -a <&2 | grep -o -e '-opost'"));
  }
  EXPECT_EQ(R.Stdout, "yes\n-opost\n");
  char Text[100];
  ssize_t N = ::read(Master, Text, sizeof(Text));
  // The outer terminal translates line ends.
  EXPECT_EQ(std::string(Text, N > 0 ? N : 0).substr(0, 5), "yes\r\n");
  ::close(Master);
  ::close(Slave);
}

TEST(CommandRunner, tee_ofAClosedStream_leavesItClosed) {
  pid_t Child = ::fork();
  if (Child == 0) {
    ::close(1);
    CommandResult R = runOrDie(teed("echo x 2>/dev/null; test $? != 0"));
    ::_exit(R.succeeded() && !R.Remembered ? 0 : 1);
  }
  int Status = 0;
  ::waitpid(Child, &Status, 0);
  EXPECT_EQ(Status, 0);
}

namespace {

/// Waits until \p Path exists.
void awaitFile(const std::string &Path) {
  while (::access(Path.c_str(), F_OK) != 0)
    ::usleep(1000);
}

/// Makes runs with a timeout in threads of their own. Each says when it has begun.
class RunsAtOnce {
public:
  explicit RunsAtOnce(const std::string &Dir) : Dir(Dir) {}
  /// Begins a run that ends after \p Then, a command of the shell.
  void begin(const std::string &Then) {
    std::string Mark = Dir + "/begun" + std::to_string(Threads.size());
    Command C = shell("touch " + Mark + "; " + Then);
    C.TimeoutS = 60;
    CommandResult &Result = Results[Threads.size()];
    Threads.emplace_back([C, &Result] { Result = runOrDie(C); });
    awaitFile(Mark);
  }
  void end(size_t Run) { Threads[Run].join(); }
  CommandResult Results[3];

private:
  std::string Dir;
  std::vector<std::thread> Threads;
};

bool hasDefaultHandler() {
  struct sigaction Now = {};
  return ::sigaction(SIGTERM, nullptr, &Now) == 0 && Now.sa_handler == SIG_DFL;
}

} // namespace

TEST(CommandRunner, signal_duringRunsAtOnce_endsAllOfThem) {
  llvm::Expected<TempDir> Dir = TempDir::create("carve-runs");
  ASSERT_TRUE(bool(Dir));
  RunsAtOnce Runs(Dir->path());
  Runs.begin("exec sleep 50");
  Runs.begin("exec sleep 50");
  EXPECT_FALSE(hasDefaultHandler());
  ::kill(::getpid(), SIGTERM);
  for (size_t Run : {0, 1}) {
    Runs.end(Run);
    EXPECT_EQ(Runs.Results[Run].Interrupted, SIGTERM);
  }
  EXPECT_TRUE(hasDefaultHandler());
}

TEST(CommandRunner, signal_afterOneOfTheRunsHasEnded_reachesTheOther) {
  llvm::Expected<TempDir> Dir = TempDir::create("carve-runs");
  ASSERT_TRUE(bool(Dir));
  RunsAtOnce Runs(Dir->path());
  Runs.begin("exec sleep 50");
  Runs.begin("exit 3");
  Runs.end(1);
  EXPECT_EQ(Runs.Results[1].ExitStatus, 3);
  EXPECT_EQ(Runs.Results[1].Interrupted, 0);
  EXPECT_FALSE(hasDefaultHandler()) << "the first run still needs it";
  ::kill(::getpid(), SIGTERM);
  Runs.end(0);
  EXPECT_EQ(Runs.Results[0].Interrupted, SIGTERM);
  EXPECT_TRUE(hasDefaultHandler());
}
