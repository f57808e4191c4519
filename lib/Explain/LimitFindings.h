/// \file
/// Tells for `carve explain` what follows from a kernel's limiter: its numbers, the most that can
/// be gained, what carve tried, and what only the author of the source can do. Input is the
/// judgement of Limiters.h; LimitsReport.h and LimitsJson.h print the findings.
#pragma once

#include "Explain/Limiters.h"

namespace carve {

/// One finding. share/doc/limits.md lists the topics.
struct Finding {
  std::string Topic;  ///< `balance`, `spills`, `occupancy` ...
  std::string Text;   ///< A clause that gives the numbers.
  std::string Tried;  ///< What carve tried. Says so if no variant of carve's affects this topic.
  std::string Author; ///< What the author can do in the source.
  /// The kernel becomes at most this many times as fast if only this is changed. Absent if nothing
  /// can be gained, or no bound is known.
  std::optional<double> AtMost;
  bool Measured = false; ///< True if a variant of the last tuning gained AtMost.
};

/// Returns at most \p Most findings on \p E. Those that concern \p L come first. If \p E has
/// neither a launch's time nor counts, the findings concern the launch and the resources only.
std::vector<Finding> limitFindings(const KernelEvidence &E, const DeviceBalance &B,
                                   const ProgramFacts &P, const KernelLimit &L, size_t Most = 6);

/// Summarizes what carve tried, for example `12 variants timed of 40 compiled: r64 is 1.41 times as
/// fast [1.40, 1.42], chosen`.
std::string triedText(const std::optional<TriedVariants> &Tried);

} // namespace carve
