/// \file
/// Medians and distribution-free intervals by order statistics, used by the tuner's statistics and
/// by the probe's early stop. It uses only the C++ library, as everything that the probe links
/// must.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <vector>

namespace carve {

/// Returns the median of \p Values. For an even number it is the mean of the middle two. \p Values
/// must not be empty.
inline double median(std::vector<double> Values) {
  assert(!Values.empty());
  std::sort(Values.begin(), Values.end());
  size_t Middle = Values.size() / 2;
  return Values.size() % 2 ? Values[Middle] : (Values[Middle - 1] + Values[Middle]) / 2;
}

/// Returns how many values to leave out at each end so that the least and the largest of the
/// remaining values enclose the median with at least \p Confidence: the largest k with
/// 1 - 2 * sum_{i<=k} C(n,i) / 2^n >= Confidence (the sign test's interval; Conover, Practical
/// Nonparametric Statistics, 3.2). For 9 values and 0.95 it is 1: the second smallest and the
/// second largest, 96 %. Returns 0 if \p Count is too small for the confidence.
inline size_t orderStatisticTrim(size_t Count, double Confidence) {
  // Sums cumulative binomial probabilities with p = 1/2, term by term.
  double Term = 1;
  for (size_t I = 0; I < Count; ++I)
    Term /= 2; // The probe does without libm, which std::pow needs.
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
