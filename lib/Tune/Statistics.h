/// \file
/// The few statistics that decisions rest on: medians, and distribution-free intervals of paired
/// ratios by order statistics.
#pragma once

#include "Probe/OrderStatistics.h"

#include <vector>

namespace carve {

/// A ratio with its interval.
struct RatioInterval {
  double Median = 1, Low = 1, High = 1;
};

/// Median and 95 % interval of \p Ratios by order statistics. Must not be empty.
RatioInterval ratioInterval(std::vector<double> Ratios);

} // namespace carve
