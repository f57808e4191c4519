/// \file
/// Reads which kernels the tuner wants to be timed in this run, from the file that CARVE_PROBE_PLAN
/// names (Protocol/PlanRecords.h).
#pragma once

#include "Protocol/PlanRecords.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace carve::probe {

/// A kernel that is timed. Inside the probe variants have numbers; in records they have names.
struct PlannedKernel {
  /// A variant of the kernel's code. Several with one name and different guards are one variant for
  /// the tools. At a launch, the first of them whose guard holds may run.
  struct Variant {
    std::string Name;
    /// The kernel's name in the module for this variant; for the default, the kernel's own name.
    std::string Clone;
    unsigned Guard = 0; ///< The number of its guard in Guards; 0 if it may run at all launches.
  };
  /// What must be true of a launch that runs a guarded variant.
  struct Guard {
    std::vector<GuardRecord> Values;
    GuardedShape Shape;
    /// The addresses that lead into different allocations of plain device memory.
    std::vector<GuardedPointer> Apart;

    /// Returns whether launches of \p Launched may have the guard's grid and block.
    bool allows(const LaunchShape &Launched) const;
  };
  std::string Name;
  TimingMode Mode = TimingMode::Replay;
  /// Whether launches of the program may run variants if the kernel cannot be replayed.
  bool MayRotate = false;
  std::vector<Variant> Variants; ///< Number 0 is the default, number 1 its control copy.
  std::set<size_t> Excluded;     ///< The variants that must not run.
  std::set<size_t> Measured;     ///< The variants that compute something else and are only timed.
  /// The variants that launches of the program may run only after their output was compared.
  std::set<size_t> ToCompare;
  std::set<std::string> Constants;  ///< The `__constant__` variables that the kernel names.
  std::map<unsigned, Guard> Guards; ///< By number, from 1.
  std::vector<PlannedShape> Shapes;
  /// The classes into which the launches of a shape are divided, by this shape, undivided, and the
  /// key of the scalar arguments. The class with the key 0 is that of all other keys.
  std::map<LaunchShape, std::map<uint64_t, uint32_t>> Classes;
  /// The same for shapes that are divided by the order of their launches: the class of the launches
  /// from a number on.
  std::map<LaunchShape, std::map<uint64_t, uint32_t>> Segments;

  /// Returns whether launches of \p Shape, undivided, are of different classes.
  bool isDivided(const LaunchShape &Shape) const {
    return Classes.count(Shape) > 0 || hasSegments(Shape);
  }
  /// Returns whether their order divides them.
  bool hasSegments(const LaunchShape &Shape) const { return Segments.count(Shape) > 0; }
  /// Returns \p Shape, undivided, with the class of its launch number \p Number.
  LaunchShape inSegment(LaunchShape Shape, uint64_t Number) const;
  /// Returns \p Shape, undivided, with the class of launches whose scalar arguments have the key
  /// \p Key; 0 if the arguments cannot be read. It remains undivided if there is no such class.
  LaunchShape inClass(LaunchShape Shape, uint64_t Key) const;
  const PlannedShape *find(const LaunchShape &Shape) const;
  /// Returns whether launches of \p Shape may run \p Variant, as far as its guard's grid and block
  /// tell.
  bool mayRunIn(size_t Variant, const LaunchShape &Shape) const;
  /// Returns whether the program's own launches may run variants.
  bool mayBecomeVariants() const { return MayRotate || Mode != TimingMode::Replay; }
};

/// The whole plan of a process.
struct Plan {
  uint64_t Seed = 1;
  /// The time limit in ms for all replays of this process; 0 means no limit.
  uint64_t ReplayMs = 0;
  uint64_t HangMs = 10'000;
  std::unordered_map<std::string, PlannedKernel> Kernels;

  const PlannedKernel *find(std::string_view Kernel) const;
  /// Reads \p File. Returns false if it cannot be read, is of another version, or has a line that
  /// the protocol does not have. A plan of which a part is not understood is refused, because it
  /// would time the wrong thing.
  bool read(const char *File);
};

} // namespace carve::probe
