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

  /// Share of the smaller that the whole hides: (Memory + Arithmetic - Whole) / min(Memory,
  /// Arithmetic), clamped to 0..1. Nothing where a time is missing.
  std::optional<double> overlap() const {
    if (WholeNs <= 0 || MemoryNs <= 0 || ArithmeticNs <= 0)
      return std::nullopt;
    double Hidden = MemoryNs + ArithmeticNs - WholeNs;
    return std::clamp(Hidden / std::min(MemoryNs, ArithmeticNs), 0.0, 1.0);
  }
};

} // namespace carve
