/// \file
/// What follows from what limits a kernel: the numbers behind it, what there is to be had at most,
/// what carve tried of it and what only the author of the source can do. Text for `carve explain`.
#pragma once

#include "Explain/Limiters.h"

namespace carve {

struct Finding {
  std::string Topic;  ///< `balance`, `spills`, `occupancy` ...
  std::string Text;   ///< A clause with its numbers.
  std::string Tried;  ///< By carve; what no variant of carve's touches says so.
  std::string Author; ///< What is left to do in the source.
  /// No better than this many times as fast, this alone changed; absent: nothing is to be had, or
  /// no bound is known.
  std::optional<double> AtMost;
  bool Measured = false; ///< AtMost is what a variant of the last tuning gained.
};

/// The findings on \p E, those that bear on \p L first, at most \p Most of them. Without a launch's
/// time and without counts these are of the launch and the resources alone.
std::vector<Finding> limitFindings(const KernelEvidence &E, const DeviceBalance &B,
                                   const ProgramFacts &P, const KernelLimit &L, size_t Most = 6);

/// What carve tried in all, `12 variants timed: r64 is 1.41 times as fast [1.40, 1.42], chosen`.
std::string triedText(const std::optional<TriedVariants> &Tried);

} // namespace carve
