/// \file
/// An axis of a plot: maps values to positions, and chooses the values at the ticks. HtmlTimePlot
/// and HtmlPlanePlot use it.
#pragma once

#include <string>
#include <vector>

namespace carve {

/// A linear or logarithmic axis.
class PlotScale {
public:
  /// A value that is written beside the axis.
  struct Tick {
    double Value = 0;
    std::string Label;
  };

  /// Makes an axis from \p Low to \p High with about \p Ticks round values as ticks.
  static PlotScale linear(double Low, double High, unsigned Ticks);
  /// Makes a logarithmic axis, for factors. Both ends must be above 0.
  static PlotScale logarithmic(double Low, double High, unsigned Ticks);

  /// Returns the position of \p Value, 0 to 1. Values beyond an end are placed at that end.
  double place(double Value) const;
  const std::vector<Tick> &ticks() const { return Ticks; }
  bool isLogarithmic() const { return Log; }

private:
  bool Log = false;
  double Low = 0, High = 1;
  std::vector<Tick> Ticks;
};

} // namespace carve
