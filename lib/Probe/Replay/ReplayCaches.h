/// \file
/// What a run that is replayed finds in L2, and the times of the default by which a replay chooses
/// it before its rounds.
#pragma once

#include <algorithm>

namespace carve::probe {

/// What is in L2 when a run begins that is timed cold.
enum class FoundInL2 {
  WhatIsLeft,    ///< What the run before it and the restoring have left.
  Nothing,       ///< Nothing of the program, and nothing that was written: L2 was flushed.
  Written,       ///< Nothing of the program, but lines that were written and have to leave first.
  ArgumentMemory ///< What the arguments lead to, written as by a copy or another kernel.
};

/// Times of the default, in ns; 0 if the clock does not tell them.
struct DefaultTimes {
  double ColdNs = 0, WarmNs = 0;
  double longer() const { return std::max(ColdNs, WarmNs); }
  /// By how much \p Ns lies outside of the two.
  double distance(double Ns) const {
    return std::max({0.0, std::min(ColdNs, WarmNs) - Ns, Ns - longer()});
  }
};

} // namespace carve::probe
