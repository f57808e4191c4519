/// \file
/// What the tuner wants timed in this run: the file that CARVE_PROBE_PLAN names
/// (Protocol/PlanRecords.h).
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

/// A kernel that is timed. Inside the probe variants are numbered; records have their names.
struct PlannedKernel {
  struct Variant {
    std::string Name;
    std::string Clone; ///< Its name in the module; the default's is the kernel's own.
  };
  std::string Name;
  TimingMode Mode = TimingMode::Replay;
  bool MayRotate = false;        ///< If it cannot be replayed.
  std::vector<Variant> Variants; ///< 0 the default, 1 its control copy.
  std::set<size_t> Excluded;     ///< Variants not to be run.
  std::set<size_t> Measured;     ///< Variants that compute something else and are only timed.
  std::vector<PlannedShape> Shapes;

  const PlannedShape *find(const LaunchShape &Shape) const;
  /// The number of the variant \p Name, if there is one.
  std::optional<size_t> find(std::string_view Name) const;
  /// Whether launches of the program's own may run variants.
  bool mayBecomeVariants() const { return MayRotate || Mode != TimingMode::Replay; }
};

struct Plan {
  uint64_t Seed = 1;
  uint64_t ReplayMs = 0; ///< For all replays of this process; 0: no limit.
  uint64_t HangMs = 10'000;
  std::unordered_map<std::string, PlannedKernel> Kernels;

  const PlannedKernel *find(std::string_view Kernel) const;
  /// Reads \p File. False if it cannot be read, is of another version, or has a line that is not
  /// the protocol's: a plan that is half understood times the wrong thing.
  bool read(const char *File);
};

} // namespace carve::probe
