/// \file
/// The Pareto front of points in any number of metrics: what no other point beats everywhere.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <cstddef>
#include <vector>

namespace carve {

/// A point that is cut, and one of the front that is at least as good everywhere.
struct ParetoCut {
  size_t Point = 0;
  size_t By = 0;
};

/// Indices, ascending, of the points that stay. Coordinates are larger-is-better, of one number for
/// all points, and not NaN. A point is cut where another is at least as good in every coordinate
/// and better by more than the share \p Margin in one: those within the margin of the front stay,
/// since the metrics are no times (Ryoo et al., JPDC 2008, section 4). Equal points all stay.
/// \p Cuts, where not null, gets the cut points in ascending order.
std::vector<size_t> paretoFront(llvm::ArrayRef<std::vector<double>> Points, double Margin,
                                std::vector<ParetoCut> *Cuts = nullptr);

} // namespace carve
