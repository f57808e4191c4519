/// \file
/// Reads which kernels the tuner wants to be timed in this run, from the file that CARVE_PROBE_PLAN
/// names (Protocol/PlanRecords.h).
#pragma once

#include "Protocol/PlanRecords.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace carve::probe {

/// A kernel that is timed. Inside the probe variants have numbers; in records they have names.
struct PlannedKernel {
  /// A variant of the kernel's code.
  struct Variant {
    std::string Name;
    /// The kernel's name in the module for this variant; for the default, the kernel's own name.
    std::string Clone;
    /// Whether it runs only at launches whose arguments have the values of Guards.
    bool Guarded = false;
  };
  std::string Name;
  TimingMode Mode = TimingMode::Replay;
  /// Whether launches of the program may run variants if the kernel cannot be replayed.
  bool MayRotate = false;
  std::vector<Variant> Variants; ///< Number 0 is the default, number 1 its control copy.
  std::set<size_t> Excluded;     ///< The variants that must not run.
  std::set<size_t> Measured;     ///< The variants that compute something else and are only timed.
  std::vector<GuardRecord> Guards;
  std::vector<PlannedShape> Shapes;

  const PlannedShape *find(const LaunchShape &Shape) const;
  /// Returns the number of the variant \p Name, if there is one.
  std::optional<size_t> find(std::string_view Name) const;
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
