/// \file
/// The entry of the injected library: the driver calls InitializeInjection from its cuInit if the
/// program runs with CUDA_INJECTION64_PATH. Every failure ends here with an `aside` record, or with
/// nothing if not even that can be written. The program goes on unchanged.

#include "Probe/Capture/CaptureRun.h"
#include "Probe/Counters/CountedRun.h"
#include "Probe/Counters/HardwareCounters.h"
#include "Probe/Entry/Callbacks.h"
#include "Probe/Entry/ExitHooks.h"
#include "Probe/Entry/Finisher.h"
#include "Probe/Entry/StretchedRun.h"
#include "Probe/Entry/TraceRun.h"
#include "Probe/Entry/TracedProcess.h"
#include "Probe/Process/ThreadGuards.h"
#include "Probe/Replay/PlannedRun.h"
#include "Probe/Trace/Activity.h"
#include "Protocol/CaptureProtocol.h"
#include "Protocol/Protocol.h"
#include "Protocol/TimeStretch.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>

using namespace carve;
using namespace carve::probe;

namespace {
/// A mode that the tuner requests with an environment variable, whose value says what is wanted.
struct WantedMode {
  const char *Variable;
  Failure (*Start)(TracedProcess &P, const char *Value, std::unique_ptr<ProbeMode> &Mode);
};
} // namespace

static constexpr WantedMode WantedModes[] = {
    {StretchVariable,
     [](TracedProcess &, const char *Text, std::unique_ptr<ProbeMode> &Mode) {
       std::optional<TimeStretch> Wanted = TimeStretch::read(Text);
       if (!Wanted)
         return Failure("stretch-unreadable");
       Mode = std::make_unique<StretchedRun>(*Wanted);
       return Failure::none();
     }},
    {PlanVariable,
     [](TracedProcess &P, const char *Path, std::unique_ptr<ProbeMode> &Mode) {
       return startPlannedRun(Path, P.Cupti, P.Driver, P.File, P.Submitted, Mode);
     }},
    {CaptureVariable,
     [](TracedProcess &P, const char *Path, std::unique_ptr<ProbeMode> &Mode) {
       return startCaptureRun(Path, P.Cupti, P.Driver, P.File, P.Submitted, Mode);
     }},
    {CountersVariable,
     [](TracedProcess &P, const char *Names, std::unique_ptr<ProbeMode> &Mode) {
       return startCountedRun(Names, P.Driver, P.File, Mode);
     }},
    {MetricsVariable,
     [](TracedProcess &P, const char *Path, std::unique_ptr<ProbeMode> &Mode) {
       return startHardwareCounters(Path, P.Cupti, P.Driver, P.File, P.Used, P.Submitted, Mode);
     }},
};

/// Makes the modes. The program is traced in addition to what else is requested, unless images are
/// replaced or hardware counters are read.
static Failure startModes(TracedProcess &P) {
  // It comes first, because a mode after it may exchange what a call of the program launches.
  if (!std::getenv(ImagesVariable) && !std::getenv(MetricsVariable))
    P.Modes.push_back(std::make_unique<TraceRun>(P.Cupti, P.Driver, P.File));
  for (const WantedMode &Wanted : WantedModes)
    if (const char *Value = std::getenv(Wanted.Variable)) {
      std::unique_ptr<ProbeMode> Mode;
      if (Failure Why = Wanted.Start(P, Value, Mode))
        return Why;
      P.Modes.push_back(std::move(Mode));
    }
  return Failure::none();
}

static bool allowActivity(const ProbeModes &Modes) {
  return std::all_of(Modes.begin(), Modes.end(),
                     [](const auto &Mode) { return Mode->allowsActivity(); });
}

/// Starts the probe. Fails with the reason why the probe can do nothing.
static Failure start(TracedProcess &P) {
  if (const char *Images = std::getenv(ImagesVariable); Images && !P.Images.read(Images))
    return Failure("images-unreadable");
  if (Failure Why = P.Cupti.load(std::getenv(CuptiVariable)))
    return Why;
  P.Driver.load();
  P.Used.start();
  if (Failure Why = startModes(P))
    return Why;
  if (Failure Why = startCallbacks(P))
    return Why;
  // If there are no times, the images must still be replaced or left together, and never be
  // replaced without a record.
  bool Recorded = !allowActivity(P.Modes) || startActivity(P.Cupti, P.File, P.Used, P.Modes);
  if (!Recorded || !startFinisher(P)) {
    P.Cupti.Unsubscribe(P.Subscriber);
    return Failure("activity-unavailable");
  }
  installExitHooks();
  return Failure::none();
}

static void initialize() {
  const char *Dir = std::getenv(DirVariable);
  if (!Dir || !*Dir)
    return;
  auto P = std::make_unique<TracedProcess>();
  if (!P->File.create(Dir))
    return;
  if (Failure Why = start(*P)) {
    P->File.add(AsideRecord{Why.reason()});
    P->File.abandon();
  }
  // After the subscription CUPTI may at any time be inside a callback of the probe on another
  // thread.
  if (P->Subscriber)
    P.release(); // NOLINT(bugprone-unused-return-value)
}

// The driver prescribes this name.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  static std::atomic_flag Started;
  CancellationOff Uncancelled;
  // CUPTI makes threads while it starts.
  SignalsBlocked NoSignals;
  try {
    if (!Started.test_and_set())
      initialize();
  } catch (...) { // NOLINT(bugprone-empty-catch)
    // The program must not see the failure. The tuner sees an empty file, or no file.
  }
  return 1;
}
