/// \file
/// Changes the launches of planned kernels before the driver sees them. PlannedRun calls it at the
/// entry of each. It has a launch replayed by Replays, makes it the variant whose turn it is in a
/// rotation, or makes it the only variant of its kernel.
#pragma once

#include "Probe/Driver/LaunchCall.h"
#include "Probe/Driver/Plan.h"
#include "Probe/Process/RecordFile.h"
#include "Probe/Replay/KernelHandles.h"
#include "Probe/Replay/LaunchStates.h"
#include "Probe/Replay/Replay.h"
#include "Probe/Replay/Replays.h"
#include "Probe/Replay/Rotation.h"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace carve::probe {

/// The changes to the launches of a run. Thread-safe.
class LaunchChanges {
public:
  /// Keeps references to all arguments. \p Replaying is null if nothing is to be replayed. \p Lock
  /// protects \p States; the caller of the other functions must not hold it.
  LaunchChanges(const DriverApi &Driver, RecordFile &File, const Plan &Wanted,
                KernelHandles &Handles, Replays *Replaying, std::mutex &Lock, LaunchStates &States)
      : Driver(Driver), File(File), Wanted(Wanted), Handles(Handles), Replaying(Replaying),
        Lock(Lock), States(States) {}

  /// Replays the launch, or makes it a variant whose turn it is. Returns which one; nothing if it
  /// runs the program's own kernel and does not take part in the rotation.
  std::optional<size_t> change(const PlannedShape &Shape, ResolvedKernel &Kernel,
                               const LaunchCall &Launch, const CUpti_CallbackData &Call,
                               Rotation::By How);
  /// Makes the launch of a graph's node a variant whose turn it is, and returns the same as
  /// change(). Nodes are not replayed.
  std::optional<size_t> changeNode(const PlannedShape &Shape, ResolvedKernel &Kernel,
                                   const LaunchCall &Node, uint64_t Correlation);
  /// Makes the launch the kernel's only variant, if that may run there. Returns which one; nothing
  /// if the launch runs the program's own kernel.
  std::optional<size_t> dispatch(const PlannedShape &Shape, ResolvedKernel &Kernel,
                                 const LaunchCall &Launch);

private:
  std::vector<size_t> usable(ResolvedKernel &Kernel, const LaunchCall &Launch,
                             const ShapeState &State, uint64_t Index);
  /// Returns whether nothing more is to be done for this launch, because it was replayed or given
  /// up.
  bool replay(ShapeState &State, ResolvedKernel &Kernel, const LaunchCall &Launch, uint64_t Index,
              CUcontext Context);
  bool finishReplay(ShapeState &State, const Replay::Result &Done);
  /// Makes the launch a variant whose turn it is. Returns which one; nothing if it takes no part.
  std::optional<size_t> rotate(ShapeState &State, ResolvedKernel &Kernel, const LaunchCall &Launch,
                               uint64_t Index, uint64_t Correlation, Rotation::By How);
  void startRotation(ShapeState &State, ResolvedKernel &Kernel, const LaunchCall &Launch,
                     uint64_t Index, Rotation::By How);

  const DriverApi &Driver;
  RecordFile &File;
  const Plan &Wanted;
  KernelHandles &Handles;
  Replays *Replaying;
  std::mutex &Lock; ///< Protects States. It is never held across a call of the driver.
  LaunchStates &States;
};

} // namespace carve::probe
