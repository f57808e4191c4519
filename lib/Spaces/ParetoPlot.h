/// \file
/// Configurations as a picture: efficiency against utilization, both relative to the best, with the
/// Pareto front, after the figures of Ryoo et al. (JPDC 2008). Shown by `carve search`.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <string>

namespace carve {

struct PlottedPoint {
  double Efficiency = 0, Utilization = 0; ///< Larger is better.
  std::string Label;
  bool Front = false;         ///< On the Pareto front, or kept by carving.
  bool Best = false;          ///< The fastest of those timed.
  bool Default = false;       ///< What the program has without a choice.
  std::optional<double> Time; ///< Seconds; absent: not timed.
};

struct PlotLabels {
  std::string Title;
  std::string Description; ///< For who cannot see it; empty: the counts and the best point.
  std::string Id = "plot"; ///< Of the picture's elements: unique where a page has several.
};

/// A self-contained SVG, readable on light and dark grounds. An axis whose points span more than a
/// factor of 10 is logarithmic. Points whose coordinates are not finite are left out; those of zero
/// and less stand at the lower end.
std::string paretoPlotSvg(llvm::ArrayRef<PlottedPoint> Points, const PlotLabels &Labels);

} // namespace carve
