/// \file
/// Computes the Pareto front of points in any number of metrics: the points that no other point
/// dominates. Carving of variants and of configurations use it.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <cstddef>
#include <vector>

namespace carve {

/// A point that is cut, and a point of the front that is at least as good in every coordinate.
struct ParetoCut {
  size_t Point = 0;
  size_t By = 0;
};

/// Returns the indices of the points that stay, in ascending order. All points have the same number
/// of coordinates, larger is better, and none is NaN. A point is cut if another is at least as good
/// in every coordinate and better in one by more than the share \p Margin. Points within the margin
/// of the front stay, because the metrics only approximate times (Ryoo et al., JPDC 2008, section
/// 4). Equal points all stay. If \p Cuts is not null, the cut points are appended to it in
/// ascending order.
std::vector<size_t> paretoFront(llvm::ArrayRef<std::vector<double>> Points, double Margin,
                                std::vector<ParetoCut> *Cuts = nullptr);

} // namespace carve
