/// \file
/// Carving: finds the compiled variants of a kernel that are not worth timing, by their static
/// metrics alone. Search/KernelSearch.h calls it after compiling and before timing.
#pragma once

#include "Metrics/Counts/Metrics.h"
#include "Search/KnobSpace.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace carve {

/// A setting that was compiled. The candidates of the first round of a search include the default.
struct Candidate {
  VariantSetting Setting;
  StaticMetrics Metrics;  ///< For the launch shape that takes most of the time.
  std::string CodeDigest; ///< Variants with equal digests have the same code. Empty if not known.
};

/// A setting that is not timed. `carve explain` prints the reason.
struct CarvedVariant {
  VariantSetting Setting;
  std::string Reason;
  bool SameCode = false; ///< Same code is a final reason. Measured times can overrule a reason that
                         ///< rests on metrics.
};

/// The bounds of carving.
struct CarveLimits {
  /// The spill traffic, in bytes per instruction more than the default's, that a variant may have
  /// inside a loop if its occupancy does not rise. 0.5 is a 4-byte access in every eighth
  /// instruction.
  double SpillBytesPerInstruction = 0.5;
  /// Pareto carving keeps a variant that is within this share of the front.
  double ParetoMargin = 0.05;
};

/// Returns the threshold by which \p C cannot win over \p Default, as a sentence, or nothing if
/// there is none. \p BandwidthShare is the share of the memory bandwidth that the default takes, 0
/// to 1. Metrics that are not known carve nothing, and spilling alone does not carve.
std::optional<std::string> thresholdReason(const Candidate &C, const Candidate &Default,
                                           std::optional<double> BandwidthShare,
                                           const CarveLimits &Limits = {});

/// Returns those of \p Candidates that another one makes superfluous. A candidate is superfluous if
/// its code equals the other's (by digest), if it has equal metrics and registers, or if the other
/// is at least as good in every metric (registers, occupancy, efficiency, utilization, spill
/// traffic) and better by more than the margin in one. The first \p Known candidates are never cut,
/// but they cut others. Equal code is found without metrics; the other rules compare only
/// candidates whose counts are known.
std::vector<CarvedVariant> superfluous(llvm::ArrayRef<Candidate> Candidates, size_t Known,
                                       const CarveLimits &Limits = {});

} // namespace carve
