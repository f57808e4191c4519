/// \file
/// Draws configurations as a picture: efficiency against utilization, both relative to the best,
/// with the Pareto front, like the figures of Ryoo et al. (JPDC 2008). `carve search` writes it.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <string>

namespace carve {

/// One configuration in the picture.
struct PlottedPoint {
  double Efficiency = 0, Utilization = 0; ///< In both, larger is better.
  std::string Label;
  bool Front = false;         ///< It is on the Pareto front, or carving kept it.
  bool Best = false;          ///< It is the fastest of the timed points.
  bool Default = false;       ///< It is what the program has if nothing is chosen.
  std::optional<double> Time; ///< Time in seconds, if it was timed.
};

/// The texts of the picture.
struct PlotLabels {
  std::string Title;
  std::string Description; ///< For readers who cannot see the picture. If empty, it gives the
                           ///< counts and the best point.
  std::string Id = "plot"; ///< Prefix of the identifiers in the picture. It must be unique if a
                           ///< page has several pictures.
};

/// Returns a self-contained SVG that is readable on light and dark backgrounds. An axis is
/// logarithmic if its points span more than a factor of 10. Points with coordinates that are not
/// finite are left out. Points at zero or below are drawn at the lower end.
std::string paretoPlotSvg(llvm::ArrayRef<PlottedPoint> Points, const PlotLabels &Labels);

} // namespace carve
