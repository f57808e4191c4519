#include "Tune/Selection/Statistics.h"

#include <algorithm>
#include <cmath>

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
