#include "Probe/Entry/ExitHooks.h"

#include "Probe/Entry/Finisher.h"
#include "Probe/Process/GotPatch.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <unistd.h>

using namespace carve::probe;

/// A program that ends by itself may be waited for longer than a program that somebody wants to
/// end.
static constexpr unsigned ExitTimeoutMs = 10'000;
static constexpr unsigned SignalTimeoutMs = 2'000;

static constexpr int FatalSignals[] = {SIGTERM, SIGINT, SIGHUP, SIGABRT,
                                       SIGSEGV, SIGBUS, SIGFPE, SIGILL};

static void onExit() { finishWithin(ExitTimeoutMs); }

/// Replaces _exit and _Exit in the calls of the program and its libraries. It may be called from a
/// signal handler, so the wait is short.
[[noreturn]] static void onImmediateExit(int Status) {
  finishWithin(SignalTimeoutMs);
  ::_exit(Status);
}

/// Handles a signal for which the program left the default action. The signal is raised again under
/// that action, and it stays blocked until the handler returns, so that the parent sees the same
/// wait status. A fault repeats by itself.
static void onFatalSignal(int Signal) {
  int Saved = errno;
  finishWithin(SignalTimeoutMs);
  struct sigaction Default{};
  Default.sa_handler = SIG_DFL;
  ::sigaction(Signal, &Default, nullptr);
  ::raise(Signal);
  errno = Saved;
}

static bool isOurs(const struct sigaction &Action) {
  return !(Action.sa_flags & SA_SIGINFO) && Action.sa_handler == onFatalSignal;
}

static bool isDefault(const struct sigaction &Action) {
  return !(Action.sa_flags & SA_SIGINFO) && Action.sa_handler == SIG_DFL;
}

static bool isFatal(int Signal) {
  return std::find(std::begin(FatalSignals), std::end(FatalSignals), Signal) !=
         std::end(FatalSignals);
}

/// The action of each signal, always the default one, that the probe's handler has replaced. It has
/// no lock, because programs set actions inside handlers of other signals. If two threads set the
/// same signal at once, they may see the flags of either.
static struct sigaction Replaced[NSIG];
static pid_t Owner = 0;

/// Installs the probe's handler if \p Signal has the default action.
static void takeOver(int Signal) {
  struct sigaction Current;
  if (::sigaction(Signal, nullptr, &Current) != 0 || !isDefault(Current))
    return;
  Replaced[Signal] = Current;
  struct sigaction Ours{};
  Ours.sa_handler = onFatalSignal;
  ::sigfillset(&Ours.sa_mask);
  Ours.sa_flags = SA_ONSTACK;
  ::sigaction(Signal, &Ours, nullptr);
}

static void takeOverAgain(int Signal) {
  if (isFatal(Signal) && ::getpid() == Owner)
    takeOver(Signal);
}

/// Replaces sigaction in the calls of the program and its libraries.
static int onSigaction(int Signal, const struct sigaction *New, struct sigaction *Old) {
  bool ToDefault = New && isDefault(*New);
  int Result = ::sigaction(Signal, New, Old);
  if (Result == 0 && Old && isOurs(*Old))
    *Old = Replaced[Signal];
  if (Result == 0 && ToDefault)
    takeOverAgain(Signal);
  return Result;
}

/// Replaces \p Real, which is signal or a similar function.
template <sighandler_t (*Real)(int, sighandler_t) noexcept>
static sighandler_t onSignal(int Signal, sighandler_t New) {
  sighandler_t Old = Real(Signal, New);
  if (Old != SIG_ERR && New == SIG_DFL)
    takeOverAgain(Signal);
  return Old == onFatalSignal ? SIG_DFL : Old;
}

static std::span<const ImportPatch> patches() {
  // The table is never destroyed, because the probe's thread may still patch while the program
  // ends.
  static const auto &Patches = *new const std::array<ImportPatch, 8>{{
      {"_exit", reinterpret_cast<void *>(onImmediateExit)},
      {"_Exit", reinterpret_cast<void *>(onImmediateExit)},
      {"sigaction", reinterpret_cast<void *>(onSigaction)},
      {"signal", reinterpret_cast<void *>(onSignal<::signal>)},
      {"bsd_signal", reinterpret_cast<void *>(onSignal<::signal>)},
      {"ssignal", reinterpret_cast<void *>(onSignal<::signal>)},
      {"sysv_signal", reinterpret_cast<void *>(onSignal<::sysv_signal>)},
      {"__sysv_signal", reinterpret_cast<void *>(onSignal<::sysv_signal>)},
  }};
  return Patches;
}

/// The number of objects that were loaded when the imports were last patched.
static std::atomic<unsigned long long> Patched{0};

void carve::probe::refreshExitHooks() {
  unsigned long long Loaded = loadedObjects();
  if (Loaded == Patched)
    return;
  Patched = Loaded;
  patchImports(patches());
}

void carve::probe::installExitHooks() {
  Owner = ::getpid();
  std::atexit(onExit);
  std::at_quick_exit(onExit);
  Patched = loadedObjects();
  patchImports(patches());
  for (int Signal : FatalSignals)
    takeOver(Signal);
}
