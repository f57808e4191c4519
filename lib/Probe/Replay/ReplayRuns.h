/// \file
/// Runs the variants of one launch on a stream of the probe, and waits for each run. A run that
/// ends has succeeded or was refused; one that does not end ends the process (Watchdog).
#pragma once

#include "Probe/Memory/Snapshot.h"
#include "Probe/Replay/KernelHandles.h"
#include "Probe/Replay/ReplayCaches.h"
#include "Probe/Replay/ReplayClock.h"
#include "Probe/Replay/Watchdog.h"

#include <memory>
#include <optional>

namespace carve::probe {

/// What all replays in one context share. It is made in that context and kept until the context
/// ends.
struct ReplayContext {
  CUstream Stream = nullptr;
  uint32_t ContextId = 0, StreamId = 0; ///< The numbers that kernel records have.
  StreamRecords Records;
  std::unique_ptr<ReplayClock> Clock;
  std::unique_ptr<Snapshot> Memory;
};

/// The launch that is replayed, and how.
struct ReplayTarget {
  ReplayTarget(const LaunchCall &Call, ResolvedKernel &Kernel, const PlannedShape &Shape,
               uint64_t Index)
      : Call(Call), Kernel(Kernel), Shape(Shape), Index(Index) {}

  const LaunchCall &Call;
  ResolvedKernel &Kernel;
  const PlannedShape &Shape;
  uint64_t Index = 0;           ///< The number of the launch in this process.
  std::vector<size_t> Variants; ///< The variants that may run, besides the default.
  bool Timed = true;            ///< If false, outputs are compared and nothing is timed.
  bool MayWait = false;         ///< Whether a later launch of the shape may be replayed instead.
  double BudgetNs = 0;          ///< The elapsed time in ns that the replay may take.
  uint64_t HangMs = 10'000;
  uint64_t Seed = 1;
  /// What runs found that an earlier replay of the shape timed. The times of both are counted
  /// together, so this one finds the same or is not timed.
  std::optional<FoundInL2> ColdL2 = {};
};

/// Runs the variants of one target.
class ReplayRuns {
public:
  ReplayRuns(const DriverApi &Driver, Watchdog &Dog, ReplayContext &Context,
             const ReplayTarget &Target)
      : Driver(Driver), Dog(Dog), Context(Context), Target(Target) {}

  /// Runs \p Variant and waits for its end. An error means that the driver refused the launch; the
  /// context is intact then.
  CUresult run(size_t Variant, bool Timed);

private:
  const DriverApi &Driver;
  Watchdog &Dog;
  ReplayContext &Context;
  const ReplayTarget &Target;
};

} // namespace carve::probe
