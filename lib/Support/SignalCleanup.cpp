#include "Support/SignalCleanup.h"

#include <atomic>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace carve;

namespace {

constexpr size_t Most = 256;
/// Read in a signal handler: a list that grows could be seen half-changed there.
std::atomic<char *> Registered[Most];
std::atomic<pid_t> Owner = 0;

void pauseMs(long Ms) {
  timespec Pause = {0, Ms * 1000000};
  ::nanosleep(&Pause, nullptr);
}

/// Ends as `rm` of what is registered. Only async-signal-safe calls.
void runRemoval(const char *Program) {
  const char *Argv[Most + 4] = {Program, "-rf", "--"};
  size_t Words = 3;
  for (std::atomic<char *> &Path : Registered)
    if (char *Known = Path.load())
      Argv[Words++] = Known;
  char *Environment[] = {nullptr};
  if (Words > 3)
    ::execve(Program, const_cast<char **>(Argv), Environment);
  ::_exit(0);
}

/// In a process of its own, that a second Ctrl-C does not reach. The compilers that were running
/// end by the same signal, or some moments later for want of their directory.
[[noreturn]] void removeRegistered(pid_t Parent) {
  ::setsid();
  // Whoever waits for the end of our output is not to wait for this.
  if (int Null = ::open("/dev/null", O_RDWR); Null >= 0)
    for (int Fd = 0; Fd < 3; ++Fd)
      ::dup2(Null, Fd);
  ::close_range(3, ~0u, 0); // Locks among them.
  for (int I = 0; I < 100 && ::getppid() == Parent; ++I)
    pauseMs(5);
  for (int I = 0; I < 3; ++I) {
    if (pid_t Removal = ::_Fork(); Removal == 0)
      runRemoval("/bin/rm");
    else if (Removal > 0)
      ::waitpid(Removal, nullptr, 0);
    pauseMs(200);
  }
  ::_exit(0);
}

void endBySignal(int Signal) {
  ::signal(Signal, SIG_DFL);
  // A child between fork and exec has this handler too.
  pid_t Self = ::getpid();
  if (Owner.exchange(0) == Self && ::_Fork() == 0)
    removeRegistered(Self);
  ::raise(Signal); // Delivered when this returns.
}

} // namespace

void carve::removeRegisteredOnSignals() {
  Owner = ::getpid();
  struct sigaction Action = {}, Now = {};
  Action.sa_handler = endBySignal;
  for (int Signal : {SIGINT, SIGTERM, SIGHUP})
    if (::sigaction(Signal, nullptr, &Now) == 0 && Now.sa_handler == SIG_DFL)
      ::sigaction(Signal, &Action, nullptr);
}

void carve::registerTemporary(llvm::StringRef Path) {
  char *Copy = ::strndup(Path.data(), Path.size());
  for (std::atomic<char *> &Slot : Registered)
    if (char *Empty = nullptr; Slot.compare_exchange_strong(Empty, Copy))
      return;
  ::free(Copy);
}

void carve::forgetTemporary(llvm::StringRef Path) {
  for (std::atomic<char *> &Slot : Registered)
    if (char *Known = Slot.load(); Known && Path == Known)
      if (Slot.compare_exchange_strong(Known, nullptr))
        return ::free(Known);
}
