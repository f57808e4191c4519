#include "Support/CommandRunner.h"

#include "Support/ChildEnvironment.h"
#include "Support/Descendants.h"
#include "Support/Error.h"
#include "Support/Log.h"
#include "Support/SignalCleanup.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Program.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <mutex>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

using namespace carve;

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point Start) {
  return std::chrono::duration<double>(Clock::now() - Start).count();
}

/// A channel from the child to us.
struct Pipe {
  int Read = -1, Write = -1;
  int PassOn = -1; ///< Our own stream that also gets everything; -1 if there is none.
  Pipe() = default;
  Pipe(const Pipe &) = delete;
  ~Pipe() {
    closeRead();
    closeWrite();
  }
  bool open() {
    int Fds[2];
    if (::pipe2(Fds, O_CLOEXEC) != 0)
      return false;
    Read = Fds[0];
    Write = Fds[1];
    return true;
  }
  /// Opens a channel that takes the place of our stream \p Fd. If that is a terminal, the channel
  /// is a terminal, too, so that the child sees no difference.
  bool openTee(int Fd) {
    PassOn = Fd;
    termios Modes;
    winsize Size = {};
    if (!::isatty(Fd) || ::tcgetattr(Fd, &Modes) != 0)
      return open();
    Modes.c_oflag &= ~OPOST; // The outer terminal translates line ends.
    (void)::ioctl(Fd, TIOCGWINSZ, &Size);
    if (::openpty(&Read, &Write, nullptr, &Modes, &Size) != 0)
      return false;
    (void)::fcntl(Read, F_SETFD, FD_CLOEXEC);
    (void)::fcntl(Write, F_SETFD, FD_CLOEXEC);
    return true;
  }
  void closeRead() {
    if (Read >= 0)
      ::close(Read);
    Read = -1;
  }
  void closeWrite() {
    if (Write >= 0)
      ::close(Write);
    Write = -1;
  }
};

/// The most runs at once that signals are forwarded to.
constexpr size_t MostForwarded = 64;
/// The children that get the signals sent to us, each as its process id, or as minus its group. A
/// signal handler reads this table; 0 is an empty place.
std::atomic<pid_t> ForwardTo[MostForwarded];

volatile sig_atomic_t LastSignal = 0;

void forwardSignal(int Signal) {
  LastSignal = Signal;
  if (std::all_of(std::begin(ForwardTo), std::end(ForwardTo),
                  [](const std::atomic<pid_t> &Child) { return Child == 0; }))
    return;
  const int Errno = errno;
  // The processes that nvcc has started outlive nvcc, so they get the signal while we can still
  // find them.
  adoptDescendants();
  (void)signalDescendants(Signal);
  for (const std::atomic<pid_t> &Child : ForwardTo)
    if (pid_t To = Child)
      ::kill(To, Signal);
  errno = Errno;
}

/// While an object lives, SIGINT, SIGTERM and SIGHUP go to its child instead of ending us, so that
/// our own files are removed. The caller then stops because of CommandResult::Interrupted. Several
/// objects may live at once, in several threads: the first sets the handler, and the last puts the
/// earlier one back.
class SignalForwarding {
public:
  SignalForwarding() {
    std::lock_guard<std::mutex> Alone(Mutex);
    if (Living++ == 0)
      install();
    for (size_t I = 0; I < MostForwarded && !Place; ++I)
      if (!Taken[I]) {
        Taken[I] = true;
        Place = I;
      }
  }
  SignalForwarding(const SignalForwarding &) = delete;
  ~SignalForwarding() {
    std::lock_guard<std::mutex> Alone(Mutex);
    if (--Living == 0)
      for (size_t I = 0; I < 3; ++I)
        ::sigaction(Signals[I], &Old[I], nullptr);
    forwardTo(0);
    if (Place)
      Taken[*Place] = false;
  }
  /// Sets the child, as ForwardTo has it.
  void forwardTo(pid_t Child) {
    if (Place)
      ForwardTo[*Place] = Child;
  }

private:
  static void install() {
    LastSignal = 0;
    struct sigaction Action = {};
    Action.sa_handler = forwardSignal;
    sigemptyset(&Action.sa_mask);
    for (int Signal : Signals)
      sigaddset(&Action.sa_mask, Signal);
    for (size_t I = 0; I < 3; ++I) {
      ::sigaction(Signals[I], nullptr, &Old[I]);
      if (Old[I].sa_handler != SIG_IGN)
        ::sigaction(Signals[I], &Action, nullptr);
    }
  }

  static constexpr int Signals[3] = {SIGINT, SIGTERM, SIGHUP};
  static inline std::mutex Mutex;
  static inline size_t Living = 0;
  static inline bool Taken[MostForwarded] = {};
  static inline struct sigaction Old[3] = {};
  std::optional<size_t> Place; ///< Absent if so many runs are under way that no place is left.
};

std::string resolveProgram(const std::string &Name) {
  if (llvm::StringRef(Name).contains('/'))
    return Name;
  auto Found = llvm::sys::findProgramByName(Name);
  return Found ? *Found : Name;
}

/// The signal mask and descriptors that a child inherits.
struct ChildStart {
  sigset_t Mask;
  int OutFd, ErrFd, FailFd;
};

/// Whether \p C may be killed by us, together with the processes that it starts: nvcc does not end
/// ptxas when it is killed.
bool hasOwnGroup(const Command &C) { return C.TimeoutS > 0 || C.Abandoned || C.AbandonS; }

/// Runs in the child between fork and exec, so it makes only async-signal-safe calls.
[[noreturn]] void becomeChild(const Command &C, const char *Program, char **Argv, char **Env,
                              pid_t Parent, const ChildStart &Start) {
  // If we are killed and cannot pass a signal on, the kernel ends the child: a tool at once, a
  // user's program by SIGTERM.
  ::prctl(PR_SET_PDEATHSIG, C.TimeoutS > 0 ? SIGTERM : SIGKILL);
  if (::getppid() != Parent)
    ::_exit(127);
  for (int Signal : {SIGINT, SIGTERM, SIGHUP})
    if (struct sigaction Now;
        ::sigaction(Signal, nullptr, &Now) == 0 && Now.sa_handler == forwardSignal)
      ::signal(Signal, SIG_DFL);
  if (hasOwnGroup(C))
    ::setpgid(0, 0);
  bool Ready = C.Dir.empty() || ::chdir(C.Dir.c_str()) == 0;
  if (Ready && C.StdinPath) {
    int In = ::open(C.StdinPath->c_str(), O_RDONLY);
    Ready = In >= 0 && ::dup2(In, 0) == 0;
    if (In > 2)
      ::close(In);
  }
  if (Start.OutFd >= 0)
    ::dup2(Start.OutFd, 1);
  if (Start.ErrFd >= 0)
    ::dup2(Start.ErrFd, 2);
  ::pthread_sigmask(SIG_SETMASK, &Start.Mask, nullptr);
  if (Ready)
    ::execve(Program, Argv, Env);
  int Errno = errno;
  (void)!::write(Start.FailFd, &Errno, sizeof(Errno));
  ::_exit(127);
}

/// Forks and returns the child's process id, or -1. From then on the child gets the signals that
/// are forwarded.
pid_t startChild(const Command &C, const char *Program, char **Argv, char **Env, ChildStart Start,
                 SignalForwarding *Forwarding) {
  // If the handler did not see the new child, the child would outlive us.
  UninterruptedWork Starting;
  Start.Mask = Starting.maskBefore();
  const pid_t Parent = ::getpid();
  pid_t Child = ::fork();
  if (Child == 0)
    becomeChild(C, Program, Argv, Env, Parent, Start);
  if (Child > 0 && hasOwnGroup(C))
    ::setpgid(Child, Child);
  if (Child > 0 && Forwarding)
    Forwarding->forwardTo(C.TimeoutS > 0 ? -Child : Child);
  return Child;
}

void passOn(int Fd, llvm::StringRef Bytes) {
  while (!Bytes.empty()) {
    ssize_t Done = ::write(Fd, Bytes.data(), Bytes.size());
    if (Done < 0 && errno == EAGAIN) {
      pollfd Room = {Fd, POLLOUT, 0};
      (void)::poll(&Room, 1, -1);
    } else if (Done < 0 && errno != EINTR) {
      return; // There is no reader any more.
    } else if (Done > 0) {
      Bytes = Bytes.drop_front(Done);
    }
  }
}

/// Appends the available bytes of \p From to \p Into, and closes \p From at its end.
void readSome(Pipe &From, std::string &Into) {
  char Buffer[1 << 16];
  ssize_t N = ::read(From.Read, Buffer, sizeof(Buffer));
  if (N > 0) {
    Into.append(Buffer, N);
    if (From.PassOn >= 0)
      passOn(From.PassOn, llvm::StringRef(Buffer, N));
  } else if (N == 0 || errno != EINTR) {
    From.closeRead(); // A terminal without a writer fails with EIO.
  }
}

/// The time at which a run with a timeout is killed: after the timeout, or some seconds after a
/// signal was passed on if the program ignores it. A launcher takes a while to end its ranks.
class Deadline {
public:
  explicit Deadline(double TimeoutS) : TimeoutS(TimeoutS), Start(Clock::now()), Told(Start) {}
  bool passed() {
    if (!LastSignal)
      Told = Clock::now();
    return secondsSince(Start) > TimeoutS || secondsSince(Told) > GraceS;
  }
  double seconds() const { return secondsSince(Start); }

private:
  static constexpr double GraceS = 3;
  double TimeoutS;
  Clock::time_point Start;
  Clock::time_point Told; ///< When a signal was passed on; until then the time of the last check.
};

/// Reads both pipes until they close, the child ends, the deadline passes or the run is abandoned.
/// Returns false in the latter two cases.
bool drain(Pipe &Out, Pipe &Err, CommandResult &Result, const Command &C, Deadline &End,
           pid_t Child) {
  bool Watch = C.TimeoutS > 0 || C.Abandoned || C.AbandonS || Out.PassOn >= 0 || Err.PassOn >= 0;
  auto IsSlow = [&] {
    double LimitS = C.AbandonS ? C.AbandonS() : 0;
    return LimitS > 0 && End.seconds() > LimitS;
  };
  while (Out.Read >= 0 || Err.Read >= 0) {
    pollfd Polls[2] = {{Out.Read, POLLIN, 0}, {Err.Read, POLLIN, 0}};
    int Ready = ::poll(Polls, 2, Watch ? 100 : -1);
    if ((C.TimeoutS > 0 && End.passed()) || (C.Abandoned && *C.Abandoned) || IsSlow())
      return false;
    if (Ready == 0 && Watch) {
      // A daemon that the program left behind may hold the pipes open for ever.
      siginfo_t Info = {};
      if (::waitid(P_PID, Child, &Info, WEXITED | WNOHANG | WNOWAIT) == 0 && Info.si_pid == Child)
        return true;
    }
    if (Ready <= 0)
      continue;
    for (int I = 0; I < 2; ++I) {
      if (!Polls[I].revents)
        continue;
      readSome(I ? Err : Out, I ? Result.Stderr : Result.Stdout);
    }
  }
  return true;
}

/// Waits for the child and returns its wait status. On the deadline, and if the run was abandoned,
/// it kills the child's group first.
int await(pid_t Child, const Command &C, CommandResult &Result, Deadline &End) {
  int Status = 0;
  while (!Result.TimedOut && C.TimeoutS > 0) {
    pid_t Done = ::waitpid(Child, &Status, WNOHANG);
    // After a signal another run may have ended the children of all.
    if (Done == Child || (Done < 0 && errno == ECHILD))
      return Status;
    if (End.passed())
      Result.TimedOut = true;
    else
      ::usleep(1000);
  }
  if (Result.TimedOut)
    ::kill(hasOwnGroup(C) ? -Child : Child, SIGKILL);
  while (::waitpid(Child, &Status, 0) < 0 && errno == EINTR) {
  }
  return Status;
}

/// Opens the channels that pass what the child prints on to our own streams. Returns false if that
/// is impossible, e.g. because a stream is closed; the child then inherits our streams.
bool openTees(Pipe &Out, Pipe &Err) {
  if (Out.openTee(STDOUT_FILENO) && (StreamShape::ours().Merged || Err.openTee(STDERR_FILENO)))
    return true;
  for (Pipe *P : {&Out, &Err}) {
    P->closeRead();
    P->closeWrite();
    P->PassOn = -1;
  }
  return false;
}

} // namespace

StreamShape StreamShape::ours() {
  struct stat Out = {}, Err = {};
  bool Known = ::fstat(STDOUT_FILENO, &Out) == 0 && ::fstat(STDERR_FILENO, &Err) == 0;
  return {Known && Out.st_dev == Err.st_dev && Out.st_ino == Err.st_ino,
          ::isatty(STDOUT_FILENO) == 1, ::isatty(STDERR_FILENO) == 1};
}

llvm::Expected<CommandResult> ProcessRunner::run(const Command &C) {
  if (logging())
    logLine("run: " + llvm::join(C.Argv, " "));
  std::string Program = resolveProgram(C.Argv.front());
  std::vector<std::string> Words = C.Argv;
  std::vector<char *> Argv;
  for (std::string &Word : Words)
    Argv.push_back(Word.data());
  Argv.push_back(nullptr);
  ChildEnvironment Environment(C.Environment);

  // This must be checked before a pipe takes the number of a closed stream.
  bool HaveStreams = ::fcntl(STDOUT_FILENO, F_GETFD) >= 0 && ::fcntl(STDERR_FILENO, F_GETFD) >= 0;
  Pipe Out, Err, Fail;
  if ((C.CaptureStdout && !Out.open()) || (C.CaptureStderr && !Err.open()) || !Fail.open())
    return llvm::createStringError(std::error_code(errno, std::generic_category()),
                                   "cannot start %s: no pipe", Program.c_str());
  bool Remembered =
      C.Tee && HaveStreams && !C.CaptureStdout && !C.CaptureStderr && openTees(Out, Err);
  // Short captured calls of tools run in parallel and need no forwarding.
  std::optional<SignalForwarding> Forwarding;
  if (C.TimeoutS > 0 || !C.CaptureStdout)
    Forwarding.emplace();
  Clock::time_point Start = Clock::now();
  Deadline End(C.TimeoutS);
  pid_t Child =
      startChild(C, Program.c_str(), Argv.data(), Environment.data(),
                 {{}, Out.Write, Remembered && Err.Write < 0 ? Out.Write : Err.Write, Fail.Write},
                 Forwarding ? &*Forwarding : nullptr);
  if (Child < 0)
    return llvm::createStringError(std::error_code(errno, std::generic_category()),
                                   "cannot start %s", Program.c_str());
  // A signal that arrived after the handler was set and before the child existed has reached
  // nobody.
  if (int Early = LastSignal; Early && Forwarding)
    ::kill(C.TimeoutS > 0 ? -Child : Child, Early);
  Out.closeWrite();
  Err.closeWrite();
  Fail.closeWrite();

  int Errno = 0;
  if (llvm::sys::RetryAfterSignal(-1, ::read, Fail.Read, &Errno, sizeof(Errno)) ==
      ssize_t(sizeof(Errno))) {
    ::waitpid(Child, nullptr, 0);
    return llvm::createFileError(C.Argv.front(), std::error_code(Errno, std::generic_category()));
  }
  CommandResult Result;
  Result.Remembered = Remembered;
  Result.TimedOut = !drain(Out, Err, Result, C, End, Child);
  int Status = await(Child, C, Result, End);
  Result.WallS = secondsSince(Start);
  Result.Interrupted = Forwarding ? LastSignal : 0;
  if (Result.Interrupted) {
    UninterruptedWork Ending; // The signal handler looks at processes, too.
    endDescendants(Result.Interrupted);
  }
  Result.Signal = WIFSIGNALED(Status) ? WTERMSIG(Status) : 0;
  Result.ExitStatus = Result.Signal ? 128 + Result.Signal : WEXITSTATUS(Status);
  return Result;
}

llvm::Expected<CommandResult> DeadlineRunner::run(const Command &C) {
  Command Watched = C;
  Watched.AbandonS = [this, OwnS = C.AbandonS, Start = Clock::now()] {
    constexpr double AtOnceS = 1e-6; // 0 would be no limit.
    const double Own = OwnS ? OwnS() : 0;
    std::optional<double> Left = LeftS();
    if (!Left)
      return Own;
    const double End = *Left > 0 ? secondsSince(Start) + *Left : AtOnceS;
    return Own > 0 ? std::min(Own, End) : End;
  };
  return Inner.run(Watched);
}

llvm::Expected<CommandResult> carve::runChecked(CommandRunner &Runner, Command C) {
  C.CaptureStdout = C.CaptureStderr = true;
  llvm::Expected<CommandResult> Result = Runner.run(C);
  if (Result && Result->TimedOut)
    Result->Stderr =
        llvm::formatv("ended after {0:f1} s, when its time was up\n", Result->WallS).str();
  if (Result && !Result->succeeded())
    return llvm::make_error<ToolFailure>(C.Argv.front(), Result->ExitStatus,
                                         std::move(Result->Stderr));
  return Result;
}

llvm::Error carve::replaceProcess(llvm::ArrayRef<std::string> Argv) {
  std::vector<std::string> Words = Argv.vec();
  std::vector<char *> Pointers;
  for (std::string &Word : Words)
    Pointers.push_back(Word.data());
  Pointers.push_back(nullptr);
  ::execv(Words.front().c_str(), Pointers.data());
  return llvm::createFileError(Words.front(), std::error_code(errno, std::generic_category()));
}
