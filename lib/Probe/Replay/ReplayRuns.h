/// \file
/// Runs of one launch's variants on a stream of ours, each waited for: what comes back has run
/// through, what does not come back ends the process (Watchdog).
#pragma once

#include "Probe/Memory/Snapshot.h"
#include "Probe/Replay/KernelHandles.h"
#include "Probe/Replay/ReplayClock.h"
#include "Probe/Replay/Watchdog.h"

#include <memory>

namespace carve::probe {

/// What replays in one context share. Made in that context, and kept until it ends.
struct ReplayContext {
  CUstream Stream = nullptr;
  uint32_t ContextId = 0, StreamId = 0; ///< As kernel records have them.
  StreamRecords Records;
  std::unique_ptr<ReplayClock> Clock;
  std::unique_ptr<Snapshot> Memory;
};

/// The launch that is replayed.
struct ReplayTarget {
  ReplayTarget(const LaunchCall &Call, ResolvedKernel &Kernel, const PlannedShape &Shape,
               uint64_t Index)
      : Call(Call), Kernel(Kernel), Shape(Shape), Index(Index) {}

  const LaunchCall &Call;
  ResolvedKernel &Kernel;
  const PlannedShape &Shape;
  uint64_t Index = 0;           ///< Of the launch, in this process.
  std::vector<size_t> Variants; ///< Beside the default: those that may run.
  bool Timed = true;            ///< Otherwise outputs are compared and nothing is timed.
  double BudgetNs = 0;          ///< By the clock.
  uint64_t HangMs = 10'000;
  uint64_t Seed = 1;
};

class ReplayRuns {
public:
  ReplayRuns(const DriverApi &Driver, Watchdog &Dog, ReplayContext &Context,
             const ReplayTarget &Target)
      : Driver(Driver), Dog(Dog), Context(Context), Target(Target) {}

  /// Runs \p Variant. An error is the driver's refusal to launch it; the context is whole.
  CUresult run(size_t Variant, bool Timed);

private:
  const DriverApi &Driver;
  Watchdog &Dog;
  ReplayContext &Context;
  const ReplayTarget &Target;
};

} // namespace carve::probe
