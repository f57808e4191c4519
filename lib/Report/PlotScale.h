/// \file
/// An axis of a picture: where on it a value stands, and the values that are written beside it.
#pragma once

#include <string>
#include <vector>

namespace carve {

class PlotScale {
public:
  struct Tick {
    double Value = 0;
    std::string Label;
  };

  /// From \p Low to \p High, with about \p Ticks round values as ticks.
  static PlotScale linear(double Low, double High, unsigned Ticks);
  /// The same for factors: logarithmic. Both ends above 0.
  static PlotScale logarithmic(double Low, double High, unsigned Ticks);

  /// 0 to 1; values beyond an end stand there.
  double place(double Value) const;
  const std::vector<Tick> &ticks() const { return Ticks; }
  bool isLogarithmic() const { return Log; }

private:
  bool Log = false;
  double Low = 0, High = 1;
  std::vector<Tick> Ticks;
};

} // namespace carve
