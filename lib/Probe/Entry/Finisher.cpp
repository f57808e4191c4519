#include "Probe/Entry/Finisher.h"

#include "Probe/Entry/ExitHooks.h"
#include "Probe/Entry/TracedProcess.h"
#include "Probe/Process/ThreadGuards.h"
#include "Probe/Trace/Activity.h"

#include <cerrno>
#include <ctime>
#include <pthread.h>
#include <semaphore.h>

using namespace carve::probe;

static constexpr long PeriodNs = 500'000'000;
static constexpr long PollNs = 200'000;

namespace {
struct FinisherState {
  explicit FinisherState(TracedProcess &P) : P(P) { ::sem_init(&Wanted, /*pshared=*/0, 0); }
  TracedProcess &P;
  sem_t Wanted;
  std::atomic<bool> Done{false};
};
} // namespace

/// Signal handlers read it. It is set once the thread runs.
static std::atomic<FinisherState *> Running{nullptr};

static void finish(TracedProcess &P) {
  for (const auto &Mode : P.Modes)
    Mode->ending();
  finishActivity();
  P.recordDevices();
  for (const auto &Mode : P.Modes)
    Mode->finish();
  P.File.seal();
}

/// Waits for one period. Returns true if the end was requested before that.
static bool waitForEnd(FinisherState &F) {
  timespec Until{};
  ::clock_gettime(CLOCK_REALTIME, &Until);
  Until.tv_nsec += PeriodNs;
  if (Until.tv_nsec >= 1'000'000'000) {
    Until.tv_nsec -= 1'000'000'000;
    ++Until.tv_sec;
  }
  while (::sem_timedwait(&F.Wanted, &Until) != 0)
    if (errno != EINTR)
      return false;
  return true;
}

static void *runFinisher(void *Arg) {
  auto &F = *static_cast<FinisherState *>(Arg);
  try {
    // CUPTI's own periodic flush returns only full buffers, and most programs never fill one.
    while (!waitForEnd(F)) {
      for (const auto &Mode : F.P.Modes)
        Mode->check();
      flushActivity(/*Last=*/false);
      F.P.recordDevices();
      refreshExitHooks();
    }
    finish(F.P);
  } catch (...) {
    F.P.File.abandon();
  }
  F.Done = true;
  return nullptr;
}

bool carve::probe::startFinisher(TracedProcess &P) {
  auto *F = new FinisherState(P);
  SignalsBlocked NoSignals;
  pthread_t Thread;
  if (::pthread_create(&Thread, nullptr, runFinisher, F) != 0)
    return false;
  ::pthread_detach(Thread);
  Running = F;
  return true;
}

void carve::probe::finishWithin(unsigned TimeoutMs) {
  CancellationOff Uncancelled;
  FinisherState *F = Running;
  if (!F || !F->P.File.owned())
    return;
  ::sem_post(&F->Wanted);
  timespec Now{}, Begin{};
  ::clock_gettime(CLOCK_MONOTONIC, &Begin);
  while (!F->Done) {
    timespec Poll{0, PollNs};
    ::nanosleep(&Poll, nullptr);
    ::clock_gettime(CLOCK_MONOTONIC, &Now);
    long PassedMs = (Now.tv_sec - Begin.tv_sec) * 1000 + (Now.tv_nsec - Begin.tv_nsec) / 1'000'000;
    if (PassedMs >= long(TimeoutMs))
      return;
  }
}
