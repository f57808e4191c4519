/// \file
/// Carving: which compiled variants of a kernel are not worth timing, by their static metrics
/// alone. Between compiling and timing in Search/KernelSearch.h.
#pragma once

#include "Metrics/Counts/Metrics.h"
#include "Search/KnobSpace.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace carve {

/// A setting that was compiled. The default is the first that a search is given.
struct Candidate {
  VariantSetting Setting;
  StaticMetrics Metrics;  ///< In the launch shape that takes most of the time.
  std::string CodeDigest; ///< Equal digests are one variant; empty: not known.
};

/// A setting that is not timed, and why, for `carve explain`.
struct CarvedVariant {
  VariantSetting Setting;
  std::string Reason;
  bool SameCode = false; ///< Final; what metrics say times can put right.
};

/// Bounds of carving.
struct CarveLimits {
  /// Spill traffic in bytes per instruction, above the default's, from which on spills inside a
  /// loop are too many where occupancy does not rise: a 4-byte access in every eighth instruction.
  double SpillBytesPerInstruction = 0.5;
  /// Pareto carving keeps what is within this share of the front.
  double ParetoMargin = 0.05;
};

/// Why a threshold says that \p C cannot win over \p Default; nothing where none does. Metrics that
/// are not known carve nothing, and spills by themselves do not either.
std::optional<std::string> thresholdReason(const Candidate &C, const Candidate &Default,
                                           std::optional<double> BandwidthShare,
                                           const CarveLimits &Limits = {});

/// What of \p Candidates another one makes superfluous: equal code (by digest), equal metrics with
/// the same registers, or at least as good in every metric (registers, occupancy, efficiency,
/// utilization, spill traffic) and better beyond the margin in one. The first \p Known candidates
/// are never cut but cut others. Equal code is found without metrics, the rest only among those
/// whose counts are known.
std::vector<CarvedVariant> superfluous(llvm::ArrayRef<Candidate> Candidates, size_t Known,
                                       const CarveLimits &Limits = {});

} // namespace carve
