#include "Support/SignalCleanup.h"

#include "Support/Descendants.h"
#include "Support/RemoveTree.h"

#include <atomic>
#include <cstring>
#include <ctime>
#include <sys/syscall.h>
#include <unistd.h>

using namespace carve;

namespace {

constexpr int Signals[] = {SIGINT, SIGTERM, SIGHUP};
constexpr size_t Most = 256;
/// A signal handler reads this table. It could see a growing list half changed.
std::atomic<char *> Registered[Most];
std::atomic<pid_t> Owner = 0;
std::atomic<bool> Ending = false;
std::atomic<int> Working = 0; ///< The number of threads in UninterruptedWork.
thread_local int Depth = 0;   ///< How many such objects this thread has.

void pauseMs(long Ms) {
  timespec Pause = {0, Ms * 1000000};
  ::nanosleep(&Pause, nullptr);
}

sigset_t handled() {
  sigset_t Set;
  sigemptyset(&Set);
  for (int Signal : Signals)
    sigaddset(&Set, Signal);
  return Set;
}

/// Removes the folder that holds \p Path if it is the folder of our temporaries and is empty.
void removeFolderOf(const char *Path) {
  char Folder[4096];
  const char *End = std::strrchr(Path, '/');
  if (!End || size_t(End - Path) >= sizeof(Folder))
    return;
  std::memcpy(Folder, Path, End - Path);
  Folder[End - Path] = 0;
  const char *Name = std::strrchr(Folder, '/');
  constexpr char Ours[] = "/carve-nvcc-";
  if (Name && std::strncmp(Name, Ours, sizeof(Ours) - 1) == 0 &&
      Name[sizeof(Ours) - 1 + std::strspn(Name + sizeof(Ours) - 1, "0123456789")] == 0)
    ::rmdir(Folder);
}

/// Makes only async-signal-safe calls.
void removeRegistered() {
  for (std::atomic<char *> &Slot : Registered)
    if (char *Path = Slot.load()) {
      removeTree(Path);
      removeFolderOf(Path);
    }
}

void endBySignal(int Signal) {
  const pid_t Self = ::getpid();
  if (Owner != Self) { // This is a child between fork and exec.
    ::signal(Signal, SIG_DFL);
    ::raise(Signal);
    return;
  }
  if (pid_t(::syscall(SYS_gettid)) != Self) {
    // Otherwise the main thread would go on meanwhile with what its children did not finish.
    for (;; pauseMs(50))
      ::syscall(SYS_tgkill, Self, Self, Signal);
  }
  Ending = true;
  for (int I = 0; I < 1000 && Working > 0; ++I)
    pauseMs(1);
  endDescendants(Signal);
  removeRegistered();
  ::signal(Signal, SIG_DFL);
  ::raise(Signal); // The signal is delivered when this returns.
}

} // namespace

void carve::removeRegisteredOnSignals() {
  Owner = ::getpid();
  struct sigaction Action = {}, Now = {};
  Action.sa_handler = endBySignal;
  Action.sa_mask = handled();
  for (int Signal : Signals)
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

UninterruptedWork::UninterruptedWork() {
  sigset_t Set = handled();
  ::pthread_sigmask(SIG_BLOCK, &Set, &Before);
  if (Depth++ > 0)
    return;
  ++Working;
  // The thread is counted before Ending is read. The handler writes Ending first and then reads the
  // count, so it misses no thread.
  if (!Ending)
    return;
  --Working;
  for (;;)
    ::pause();
}

UninterruptedWork::~UninterruptedWork() {
  if (--Depth == 0)
    --Working;
  ::pthread_sigmask(SIG_SETMASK, &Before, nullptr);
}
