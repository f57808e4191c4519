#include "Probe/ExitHooks.h"

#include "Probe/Finisher.h"
#include "Probe/GotPatch.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <unistd.h>

using namespace carve::probe;

/// A program that ends by itself is worth a longer wait than one that somebody wants gone.
static constexpr unsigned ExitTimeoutMs = 10'000;
static constexpr unsigned SignalTimeoutMs = 2'000;

static constexpr int FatalSignals[] = {SIGTERM, SIGINT, SIGHUP, SIGABRT,
                                       SIGSEGV, SIGBUS, SIGFPE, SIGILL};

static void onExit() { finishWithin(ExitTimeoutMs); }

/// Stands in for _exit and _Exit in the program's and its libraries' calls. It may be called from
/// a signal handler, so the short wait.
[[noreturn]] static void onImmediateExit(int Status) {
  finishWithin(SignalTimeoutMs);
  ::_exit(Status);
}

/// Runs where the program left the default action. The signal is raised again under that action
/// and stays blocked until the handler returns, so that the parent sees the same wait status; a
/// fault repeats by itself.
static void onFatalSignal(int Signal) {
  int Saved = errno;
  finishWithin(SignalTimeoutMs);
  struct sigaction Default{};
  Default.sa_handler = SIG_DFL;
  ::sigaction(Signal, &Default, nullptr);
  ::raise(Signal);
  errno = Saved;
}

static void installSignalHandlers() {
  for (int Signal : FatalSignals) {
    struct sigaction Current;
    if (::sigaction(Signal, nullptr, &Current) != 0 || (Current.sa_flags & SA_SIGINFO) ||
        Current.sa_handler != SIG_DFL)
      continue;
    struct sigaction Ours{};
    Ours.sa_handler = onFatalSignal;
    ::sigfillset(&Ours.sa_mask);
    Ours.sa_flags = SA_ONSTACK;
    ::sigaction(Signal, &Ours, nullptr);
  }
}

void carve::probe::installExitHooks() {
  std::atexit(onExit);
  std::at_quick_exit(onExit);
  auto *Ours = reinterpret_cast<void *>(onImmediateExit);
  patchImports({{"_exit", Ours}, {"_Exit", Ours}});
  installSignalHandlers();
}
