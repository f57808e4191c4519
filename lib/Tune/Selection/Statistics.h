/// \file
/// The few statistics that decisions rest on: medians, and distribution-free intervals of paired
/// ratios by order statistics.
#pragma once

#include "Protocol/OrderStatistics.h"

#include <vector>

namespace carve {

/// A ratio with its interval.
struct RatioInterval {
  double Median = 1, Low = 1, High = 1;
};

/// The least number of values whose ends enclose their median with at least \p Confidence: with
/// fewer, no interval says anything. 6 for 0.95.
size_t leastCount(double Confidence);

/// Median of \p Ratios and its interval of \p Confidence by order statistics; of fewer than
/// leastCount() values, their ends. Must not be empty.
RatioInterval ratioInterval(std::vector<double> Ratios, double Confidence);

/// Median and 95 % interval of \p Ratios by order statistics. Must not be empty.
RatioInterval ratioInterval(std::vector<double> Ratios);

} // namespace carve
