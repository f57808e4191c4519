#include "Tune/Statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>

using namespace carve;

double carve::median(std::vector<double> Values) {
  assert(!Values.empty());
  std::sort(Values.begin(), Values.end());
  size_t Middle = Values.size() / 2;
  return Values.size() % 2 ? Values[Middle] : (Values[Middle - 1] + Values[Middle]) / 2;
}

size_t carve::orderStatisticTrim(size_t Count, double Confidence) {
  // Cumulative binomial probabilities with p = 1/2, term by term.
  double Term = std::pow(0.5, double(Count)), Tail = Term;
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
