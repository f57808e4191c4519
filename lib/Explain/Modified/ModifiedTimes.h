/// \file
/// Holds the times of a kernel without its arithmetic and without its memory traffic, and computes
/// how much of one hides behind the other. Explain/Modified/ModifiedKernels measures them;
/// Limiters.h and LimitFindings.h use them.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

namespace carve {

/// The times of a whole kernel, of its memory-only and of its arithmetic-only version
/// (Micikevicius, "Analysis-driven optimization"), in ns for one replayed launch. 0 if a time is
/// missing.
struct ModifiedTimes {
  double WholeNs = 0, MemoryNs = 0, ArithmeticNs = 0;
  std::string Reason; ///< Why a time is missing; empty if none is.

  /// True if a version that takes \p PartNs can be a part of the whole kernel. A version that takes
  /// over a tenth longer issues its loads in another order, and says nothing about the kernel.
  bool isPart(double PartNs) const { return PartNs > 0 && PartNs <= 1.1 * WholeNs; }

  /// Returns the share of the shorter part that the whole kernel hides: (Memory + Arithmetic -
  /// Whole) / min(Memory, Arithmetic), clamped to 0..1. Absent if a time is missing or cannot be
  /// that of a part.
  std::optional<double> overlap() const {
    if (!isPart(MemoryNs) || !isPart(ArithmeticNs))
      return std::nullopt;
    double Hidden = MemoryNs + ArithmeticNs - WholeNs;
    return std::clamp(Hidden / std::min(MemoryNs, ArithmeticNs), 0.0, 1.0);
  }
};

} // namespace carve
