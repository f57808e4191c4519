/// \file
/// The few statistics that decisions rest on: medians, and distribution-free intervals of paired
/// ratios by order statistics.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <cstddef>
#include <vector>

namespace carve {

/// The median of \p Values; of an even number, the mean of the middle two. Values must not be
/// empty.
double median(std::vector<double> Values);

/// A ratio with its interval.
struct RatioInterval {
  double Median = 1, Low = 1, High = 1;
};

/// How many values are left out at each end so that the order statistics that remain at the ends
/// enclose the median with at least \p Confidence: the largest k with
/// 1 - 2 * sum_{i<=k} C(n,i) / 2^n >= Confidence (the sign test's interval; Conover, Practical
/// Nonparametric Statistics, 3.2). For 9 values and 0.95 it is 1: the second smallest and the
/// second largest, 96 %. 0 where \p Count is too small for the confidence.
size_t orderStatisticTrim(size_t Count, double Confidence);

/// The least number of values whose ends enclose their median with at least \p Confidence: with
/// fewer, no interval says anything. 6 for 0.95.
size_t leastCount(double Confidence);

/// Median of \p Ratios and its interval of \p Confidence by order statistics; of fewer than
/// leastCount() values, their ends. Must not be empty.
RatioInterval ratioInterval(std::vector<double> Ratios, double Confidence);

/// Median and 95 % interval of \p Ratios by order statistics. Must not be empty.
RatioInterval ratioInterval(std::vector<double> Ratios);

} // namespace carve
