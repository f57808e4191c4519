#include "Tune/Statistics.h"

#include <algorithm>

using namespace carve;

RatioInterval carve::ratioInterval(std::vector<double> Ratios) {
  std::sort(Ratios.begin(), Ratios.end());
  size_t Trim = orderStatisticTrim(Ratios.size(), 0.95);
  return {median(Ratios), Ratios[Trim], Ratios[Ratios.size() - 1 - Trim]};
}
