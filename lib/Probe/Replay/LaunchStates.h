/// \file
/// What is known in this process of each planned shape and kernel: what was replayed, whose turn it
/// is, and which launches have become variants and wait for their records. It makes no call of the
/// driver.
#pragma once

#include "Probe/Driver/Plan.h"
#include "Probe/Replay/ReplayRuns.h"
#include "Probe/Replay/Rotation.h"
#include "Probe/Replay/RotationParts.h"
#include "Probe/Replay/Watchdog.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace carve::probe {

/// The state of one planned shape of one planned kernel. Each class of a divided shape is planned
/// and has a state of its own.
struct ShapeState {
  const PlannedKernel *Kernel = nullptr;
  const PlannedShape *Shape = nullptr;
  uint64_t Launches = 0;
  unsigned Replayed = 0;  ///< The number of launches that were replayed.
  unsigned Attempts = 0;  ///< The number of attempts since the last replayed launch.
  bool Replaying = false; ///< Set while a thread replays a launch of this shape.
  /// What runs that are timed cold find in all replays of this shape, once a replay was timed.
  std::optional<FoundInL2> ColdL2;
  /// The guarded variants that the last replay did not compare, because its launch had other
  /// arguments. They are not rotated.
  std::set<size_t> Uncompared;
  /// The variants that a replay has compared at this shape, and that compute what the default does.
  std::set<size_t> Sound;
  std::unique_ptr<Rotation> Turns;
  LaunchPart Part; ///< The launches that are rotated, if the shape is.
  /// Set if a launch has run the default outside of the rotation since the last turn.
  bool HasRunBeside = false;
  unsigned Dispatched = 0; ///< The number of dispatched launches that have not ended.
  /// The time of the first launch that became a variant and has not ended.
  uint64_t PendingSinceMs = 0;

  /// Returns whether a launch became a variant and has not been seen to end; \p Oldest is then the
  /// variant of the first such launch, and \p Number, if not null, its number.
  bool pending(size_t &Oldest, uint64_t *Number = nullptr) const {
    if (Dispatched == 0)
      return Turns && Turns->pending(Oldest, Number);
    Oldest = FirstPlace;
    return true;
  }
  /// Called before a launch becomes a variant.
  void notePending() {
    if (size_t Oldest = 0; !pending(Oldest))
      PendingSinceMs = steadyMs();
  }
};

/// The state of a planned kernel.
struct KernelState {
  std::set<size_t> Out;   ///< The variants that must not run any more.
  bool StoodBack = false; ///< Set if the kernel could not be replayed.
  bool Refused = false;   ///< Set if the driver did not take a variant in a graph.
};

/// The states of all shapes and kernels of a plan. Not synchronised: the caller locks.
class LaunchStates {
public:
  /// Keeps references to the kernels and shapes of \p Wanted.
  explicit LaunchStates(const Plan &Wanted);

  ShapeState &of(const PlannedShape &Shape) { return Shapes.at(&Shape); }
  KernelState &of(const PlannedKernel &Kernel) { return Kernels.at(&Kernel); }

  /// Returns the planned shape of the next launch of \p Undivided, which has segments; null if its
  /// segment is not planned.
  const PlannedShape *nextInSegments(const PlannedKernel &Kernel, const LaunchShape &Undivided) {
    return Kernel.find(Kernel.inSegment(Undivided, Launched[{&Kernel, Undivided}]++));
  }

  /// Whether a launch of another segment of this one's shape was replayed.
  bool hasReplayedSegment(const ShapeState &State) const;

  /// Whether launch number \p Index of the shape is to be replayed.
  bool wantsReplay(const ShapeState &State, uint64_t Index) const;
  /// Whether the shape's next launch takes part in a rotation.
  bool wantsRotation(const ShapeState &State) const;
  /// Whether launch number \p Index is one of those in which the shape is rotated. All are if the
  /// rotation begins so late that too few would be left.
  bool isInPart(ShapeState &State, uint64_t Index) const;

  /// Returns the next number of a launch that waits for its record, over all rotations.
  uint64_t nextNumber() { return Numbered++; }
  /// Whether launches of \p Undivided are rotated, or may be from a later launch on.
  bool mayRotate(const PlannedKernel &Kernel, const LaunchShape &Undivided) const;
  /// Takes note of a launch that runs the default outside of all cycles, where mayRotate(). Returns
  /// where it waits for its record.
  Rotation *noteBeside(const PlannedKernel &Kernel, const LaunchShape &Undivided,
                       uint64_t Correlation, Rotation::By How);
  /// Takes note that the launches with this id were not submitted.
  void failed(uint64_t Correlation);
  /// Takes \p Variants out of all rotations of \p Kernel.
  void drop(const PlannedKernel &Kernel, const std::set<size_t> &Variants);
  /// Forgets the launches without a record, because none will come.
  void forgetPending();

  /// Returns the state of the shape, or of the class of a divided shape, to which a record belongs.
  /// Records do not tell classes: it is the class of the launch that waits for the record. Returns
  /// null if the shape is not planned, if no class of it waits, or if the launch is beside them.
  ShapeState *ofRecord(const PlannedKernel &Kernel, const LaunchShape &Undivided, size_t Variant,
                       uint64_t Correlation, bool InGraph);

  /// Returns the shape of the first launch that became a variant and has not been seen to end, and
  /// sets \p Variant to that variant; null if all have ended.
  const ShapeState *firstPending(size_t &Variant) const;
  /// Returns whether \p Is holds for the state of a shape.
  template <class Predicate> bool anyShape(Predicate Is) const {
    return std::any_of(Shapes.begin(), Shapes.end(),
                       [&](const auto &Each) { return Is(Each.second); });
  }

private:
  /// A planned kernel and a shape of it, undivided.
  using UndividedShape = std::pair<const PlannedKernel *, LaunchShape>;
  void setParts(const Plan &Wanted);

  uint64_t Seed;
  uint64_t Numbered = 0; ///< The number of launches that have waited for their records.
  std::map<const PlannedShape *, ShapeState> Shapes;
  std::map<const PlannedKernel *, KernelState> Kernels;
  /// The launches that run the default outside of all cycles. Records come late, and tell neither
  /// classes nor which call it was, so these launches wait for theirs, too, lest one of a cycle
  /// gets it.
  std::map<UndividedShape, Rotation> Beside;
  /// How many launches there were of each shape with segments.
  std::map<UndividedShape, uint64_t> Launched;
};

} // namespace carve::probe
