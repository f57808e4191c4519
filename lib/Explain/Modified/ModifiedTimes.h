/// \file
/// What a kernel takes without its arithmetic and without its memory traffic: how much of the one
/// hides behind the other. Timed by ModifiedKernels (lib/Driver).
#pragma once

#include <algorithm>
#include <optional>
#include <string>

namespace carve {

/// Times of a kernel without its arithmetic and without its memory traffic (Micikevicius,
/// "Analysis-driven optimization"), ns of one launch, replayed.
struct ModifiedTimes {
  double WholeNs = 0, MemoryNs = 0, ArithmeticNs = 0;
  std::string Reason; ///< Why one is missing (0).

  /// Whether a part that takes \p PartNs is one of the whole. A version that takes a tenth longer
  /// does its loads in an order of its own, and says nothing of the kernel.
  bool isPart(double PartNs) const { return PartNs > 0 && PartNs <= 1.1 * WholeNs; }

  /// Share of the smaller that the whole hides: (Memory + Arithmetic - Whole) / min(Memory,
  /// Arithmetic), clamped to 0..1. Nothing where a time is missing or is of no part.
  std::optional<double> overlap() const {
    if (!isPart(MemoryNs) || !isPart(ArithmeticNs))
      return std::nullopt;
    double Hidden = MemoryNs + ArithmeticNs - WholeNs;
    return std::clamp(Hidden / std::min(MemoryNs, ArithmeticNs), 0.0, 1.0);
  }
};

} // namespace carve
