/// \file
/// The statistics behind all decisions of tuning: medians, distribution-free intervals by order
/// statistics and by signed ranks, and quantiles of Student's t.
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

/// The value that Student's t with \p Dof degrees of freedom (at least 1) exceeds with probability
/// \p Level (above 0, at most 1/2).
double studentQuantile(double Level, unsigned Dof);

/// The two ends of an interval.
struct Interval {
  double Low = 0, High = 0;
};

/// The interval of Hodges and Lehmann (Estimates of location based on rank tests, 1963) for the
/// centre of the symmetric distribution that \p Values were drawn from: the values that Wilcoxon's
/// signed-rank test does not reject. Each end is on the wrong side of the centre with a probability
/// of at most \p Level, whatever else the distribution is. The ends are infinite if the values are
/// too few for the level: it takes n values with 2^-n <= Level.
Interval signedRankInterval(const std::vector<double> &Values, double Level);

} // namespace carve
