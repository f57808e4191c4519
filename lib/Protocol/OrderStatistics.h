/// \file
/// Medians and distribution-free intervals by order statistics: what the tuner's statistics and the
/// probe's early stop have in common. The C++ library alone is used here.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <vector>

namespace carve {

/// The median of \p Values; of an even number, the mean of the middle two. Values must not be
/// empty.
inline double median(std::vector<double> Values) {
  assert(!Values.empty());
  std::sort(Values.begin(), Values.end());
  size_t Middle = Values.size() / 2;
  return Values.size() % 2 ? Values[Middle] : (Values[Middle - 1] + Values[Middle]) / 2;
}

/// How many values are left out at each end so that the order statistics that remain at the ends
/// enclose the median with at least \p Confidence: the largest k with
/// 1 - 2 * sum_{i<=k} C(n,i) / 2^n >= Confidence (the sign test's interval; Conover, Practical
/// Nonparametric Statistics, 3.2). For 9 values and 0.95 it is 1: the second smallest and the
/// second largest, 96 %. 0 where \p Count is too small for the confidence.
inline size_t orderStatisticTrim(size_t Count, double Confidence) {
  // Cumulative binomial probabilities with p = 1/2, term by term.
  double Term = 1;
  for (size_t I = 0; I < Count; ++I)
    Term /= 2; // std::pow needs libm, which the probe does without.
  double Tail = Term;
  size_t Trim = 0;
  for (size_t K = 1; 2 * K < Count; ++K) {
    Term *= double(Count - K + 1) / double(K);
    Tail += Term;
    if (1 - 2 * Tail < Confidence)
      break;
    Trim = K;
  }
  return Trim;
}

} // namespace carve
