#include "Search/Pareto.h"

#include <cmath>
#include <optional>

using namespace carve;

/// Returns true if \p A cuts \p B.
static bool beats(const std::vector<double> &A, const std::vector<double> &B, double Margin) {
  bool Beyond = false;
  for (size_t I = 0; I < A.size(); ++I) {
    if (A[I] < B[I])
      return false;
    // The margin is a share of the cut point's absolute value, so that it also works for negative
    // coordinates.
    Beyond |= A[I] - B[I] > Margin * std::abs(B[I]);
  }
  return Beyond;
}

std::vector<size_t> carve::paretoFront(llvm::ArrayRef<std::vector<double>> Points, double Margin,
                                       std::vector<ParetoCut> *Cuts) {
  std::vector<std::optional<size_t>> CutBy(Points.size());
  std::vector<size_t> Front;
  for (size_t I = 0; I < Points.size(); ++I) {
    for (size_t J = 0; J < Points.size() && !CutBy[I]; ++J)
      if (J != I && beats(Points[J], Points[I], Margin))
        CutBy[I] = J;
    if (!CutBy[I])
      Front.push_back(I);
  }
  if (!Cuts)
    return Front;
  for (size_t I = 0; I < Points.size(); ++I) {
    if (!CutBy[I])
      continue;
    // Domination is transitive: follow the chain to a point on the front.
    size_t By = *CutBy[I];
    while (CutBy[By])
      By = *CutBy[By];
    Cuts->push_back({I, By});
  }
  return Front;
}
