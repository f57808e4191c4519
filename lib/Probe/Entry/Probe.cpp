/// \file
/// The entry of the injected library: the driver calls InitializeInjection from its cuInit, in a
/// program run with CUDA_INJECTION64_PATH. Any failure ends here in an `aside` record, or in
/// nothing where not even that can be written; the program goes on untouched.

#include "Probe/Entry/Callbacks.h"
#include "Probe/Entry/ExitHooks.h"
#include "Probe/Entry/Finisher.h"
#include "Probe/Entry/TracedProcess.h"
#include "Probe/Process/ThreadGuards.h"
#include "Probe/Trace/Activity.h"
#include "Protocol/CaptureProtocol.h"
#include "Protocol/Protocol.h"

#include <cstdlib>
#include <memory>

using namespace carve::probe;

/// Returns why the probe has to stand aside; empty when everything runs.
static std::string start(TracedProcess &P) {
  if (const char *Images = std::getenv(ImagesVariable)) {
    P.Tracing = false;
    if (!P.Images.read(Images))
      return "images-unreadable";
  }
  if (const char *Delay = std::getenv(DelayVariable))
    P.LaunchDelayNs = std::strtoull(Delay, nullptr, 10);
  if (std::string Reason = P.Cupti.load(std::getenv(CuptiVariable)); !Reason.empty())
    return Reason;
  P.Driver.load();
  P.Used.start();
  if (const char *File = std::getenv(PlanVariable))
    if (std::string Reason = startPlannedRun(P, File); !Reason.empty())
      return Reason;
  if (const char *File = std::getenv(CaptureVariable))
    if (std::string Reason = startCaptureRun(P, File); !Reason.empty())
      return Reason;
  if (const char *Names = std::getenv(CountersVariable))
    if (std::string Reason = startCountedRun(P, Names); !Reason.empty())
      return Reason;
  if (const char *File = std::getenv(MetricsVariable))
    if (std::string Reason = startHardwareCounters(P, File); !Reason.empty())
      return Reason;
  if (std::string Reason = startCallbacks(P); !Reason.empty())
    return Reason;
  // Without times the images must still be replaced or left as a whole, never replaced unseen.
  // Activity records would have CUPTI's own kernels among them, and its times not be the program's.
  if ((!P.Measuring && !startActivity(P)) || !startFinisher(P)) {
    P.Cupti.Unsubscribe(P.Subscriber);
    return "activity-unavailable";
  }
  installExitHooks();
  return "";
}

static void initialize() {
  const char *Dir = std::getenv(DirVariable);
  if (!Dir || !*Dir)
    return;
  auto P = std::make_unique<TracedProcess>();
  if (!P->File.create(Dir))
    return;
  std::string Reason = start(*P);
  if (!Reason.empty()) {
    P->File.append(recordLine({"aside", Reason}));
    P->File.abandon();
  }
  // Once subscribed, CUPTI may be inside a callback of ours on another thread at any time.
  if (P->Subscriber)
    P.release(); // NOLINT(bugprone-unused-return-value)
}

// The driver prescribes the name.
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
    // The program must not see it; the tuner sees a file that says nothing, or no file.
  }
  return 1;
}
