/// \file
/// The statistics behind all decisions of tuning: medians, and distribution-free intervals of
/// paired ratios by order statistics.
#pragma once

#include "Protocol/OrderStatistics.h"

#include <vector>

namespace carve {

/// The median of some ratios and the ends of its interval.
struct RatioInterval {
  double Median = 1, Low = 1, High = 1;
};

/// The least number of values whose smallest and largest enclose the true median with a probability
/// of at least \p Confidence. With fewer values, no interval has that confidence. It is 6 for 0.95.
size_t leastCount(double Confidence);

/// The median of \p Ratios and its interval with \p Confidence (0 to 1) by order statistics. If
/// there are fewer than leastCount() values, the interval is their smallest and largest. \p Ratios
/// must not be empty.
RatioInterval ratioInterval(std::vector<double> Ratios, double Confidence);

/// The median of \p Ratios and its 95 % interval by order statistics. \p Ratios must not be empty.
RatioInterval ratioInterval(std::vector<double> Ratios);

} // namespace carve
