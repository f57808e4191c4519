#include "Tune/Selection/Statistics.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

using namespace carve;

size_t carve::leastCount(double Confidence) {
  size_t Count = 1;
  while (1 - 2 * std::pow(0.5, double(Count)) < Confidence)
    ++Count;
  return Count;
}

RatioInterval carve::ratioInterval(std::vector<double> Ratios, double Confidence) {
  std::sort(Ratios.begin(), Ratios.end());
  size_t Trim = orderStatisticTrim(Ratios.size(), Confidence);
  return {median(Ratios), Ratios[Trim], Ratios[Ratios.size() - 1 - Trim]};
}

RatioInterval carve::ratioInterval(std::vector<double> Ratios) {
  return ratioInterval(std::move(Ratios), 0.95);
}

/// The probability that Student's t with \p Dof degrees of freedom exceeds sqrt(Dof) * tan(Angle).
/// It is a finite sum (Abramowitz and Stegun, 26.7.3 and 26.7.4).
static double studentTail(double Angle, unsigned Dof) {
  double Cos = std::cos(Angle), Sin = std::sin(Angle);
  bool Odd = Dof % 2;
  double Term = Odd ? Cos : 1, Sum = Dof > 1 ? Term : 0;
  for (unsigned K = Odd ? 3 : 2; K < Dof; K += 2) {
    Term *= Cos * Cos * (K - 1) / K;
    Sum += Term;
  }
  double Within = Odd ? 2 / std::numbers::pi * (Angle + Sin * Sum) : Sin * Sum;
  return (1 - Within) / 2;
}

double carve::studentQuantile(double Level, unsigned Dof) {
  double Low = 0, High = std::numbers::pi / 2;
  for (int Step = 0; Step < 60; ++Step) {
    double Middle = (Low + High) / 2;
    (studentTail(Middle, Dof) > Level ? Low : High) = Middle;
  }
  return std::sqrt(double(Dof)) * std::tan(High);
}

/// The largest k with P(W <= k) <= \p Level, where W is the sum of the positive ranks of \p Count
/// values from a distribution that is symmetric about 0. Nothing if there is none.
static std::optional<size_t> signedRankTrim(size_t Count, double Level) {
  // Counts, for every sum, the subsets of the ranks 1 to Count that have it.
  std::vector<double> Subsets(Count * (Count + 1) / 2 + 1, 0);
  Subsets[0] = 1;
  for (size_t Rank = 1; Rank <= Count; ++Rank)
    for (size_t Sum = Subsets.size(); Sum-- > Rank;)
      Subsets[Sum] += Subsets[Sum - Rank];
  double All = std::pow(2.0, double(Count)), Tail = 0;
  for (size_t Sum = 0; Sum < Subsets.size(); ++Sum) {
    Tail += Subsets[Sum];
    if (Tail > Level * All)
      return Sum ? std::optional(Sum - 1) : std::nullopt;
  }
  return Subsets.size() - 1;
}

Interval carve::signedRankInterval(const std::vector<double> &Values, double Level) {
  std::optional<size_t> Trim = signedRankTrim(Values.size(), Level);
  if (!Trim)
    return {-HUGE_VAL, HUGE_VAL};
  std::vector<double> Means; // Of each pair of values, and of each value with itself.
  for (size_t I = 0; I < Values.size(); ++I)
    for (size_t J = 0; J <= I; ++J)
      Means.push_back((Values[I] + Values[J]) / 2);
  std::sort(Means.begin(), Means.end());
  return {Means[*Trim], Means[Means.size() - 1 - *Trim]};
}
