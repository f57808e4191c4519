/// \file
/// The options of a tuning, which the command line fills in: whether kernels or files are tuned,
/// which points and knobs are tried, and which launches must stay possible.
#pragma once

#include "Device/CriticalPoints.h"
#include "Search/EntryGuard.h"
#include "Search/KernelSearch.h"

#include <optional>
#include <set>
#include <string>

namespace carve {

/// What gets its own variants.
enum class TuningScope {
  Kernel, ///< Every kernel has its own setting, which is written into its PTX.
  File,   ///< `nvcc -maxrregcount` sets one cap for all kernels of a file: the paper's method.
};

/// Which variants are tried.
enum class PointSet {
  Critical,   ///< Variants that KernelSearch proposes from the critical points of traced shapes.
  EveryEight, ///< Every multiple of 8 in the region. It is a reference for the critical points.
  All, ///< The same with every other knob that a module can hold. It is a reference for a search.
  Decided, ///< What an earlier tuning decided (EarlierDecision.h), and nothing else.
};

/// The largest TuningOptions::Effort.
inline constexpr unsigned MaxEffort = 3;

/// TuningOptions::LeastShare of a tuning. A kernel of a thousandth can still gain what many of them
/// gain together. Where kernels are only shown, a hundredth is enough.
inline constexpr double LeastTunedShare = 0.001;

/// What the user may set for a tuning.
struct TuningOptions {
  TuningScope Scope = TuningScope::Kernel;
  LaunchDomain Domain = LaunchDomain::Preserve;
  /// Whether what the domain forbids may be a further entry, for blocks that can be launched.
  FurtherEntries Entries = FurtherEntries::Off;
  PointSet Points =
      PointSet::Critical;          ///< With any other set, all points are timed without search.
  unsigned Effort = DefaultEffort; ///< Which knobs are tried (KernelSearch), and for how long.
  double LeastShare = 0.01; ///< A kernel with a smaller share of GPU time, 0 to 1, is left alone.
  std::string DevicesDir;
  /// The mangled names of the only kernels that are tuned, for a shard of a larger tuning
  /// (Fleet/FleetPlan.h). Absent if all are.
  std::optional<std::set<std::string>> OnlyKernels = {};
};

} // namespace carve
