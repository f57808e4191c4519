#include "Report/PlotScale.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

using namespace carve;

static PlotScale::Tick tickAt(double Value) {
  PlotScale::Tick T{Value, ""};
  llvm::raw_string_ostream(T.Label) << llvm::format("%g", std::abs(Value) < 1e-12 ? 0 : Value);
  return T;
}

/// Returns the smallest value that is 1, 2 or 5 times a power of ten and at least \p Least.
static double roundStep(double Least) {
  double Power = std::pow(10, std::floor(std::log10(Least)));
  for (double Factor : {1.0, 2.0, 5.0})
    if (Factor * Power >= Least * (1 - 1e-9))
      return Factor * Power;
  return 10 * Power;
}

PlotScale PlotScale::linear(double Low, double High, unsigned Ticks) {
  PlotScale S;
  if (High <= Low)
    High = Low + (Low != 0 ? std::abs(Low) / 10 : 1);
  double Step = roundStep((High - Low) / std::max(1u, Ticks));
  S.Low = Low;
  S.High = High;
  const auto Last = int64_t(std::floor(High / Step + 1e-9));
  for (auto I = int64_t(std::ceil(Low / Step - 1e-9)); I <= Last; ++I)
    S.Ticks.push_back(tickAt(double(I) * Step));
  return S;
}

/// The round factors within one decade. The densest choice comes first.
static constexpr std::initializer_list<double> Decades[] = {
    {1, 1.1, 1.2, 1.3, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9},
    {1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8},
    {1, 1.5, 2, 3, 5, 7},
    {1, 2, 5},
    {1, 3},
    {1}};

PlotScale PlotScale::logarithmic(double Low, double High, unsigned Ticks) {
  PlotScale S;
  S.Log = true;
  S.Low = Low;
  S.High = std::max(High, Low * 1.1);
  int First = std::floor(std::log10(S.Low)), Last = std::ceil(std::log10(S.High));
  for (const auto &Factors : Decades) {
    S.Ticks.clear();
    for (int Decade = First; Decade <= Last; ++Decade)
      for (double Factor : Factors) {
        double Value = Factor * std::pow(10, Decade);
        if (Value >= S.Low * (1 - 1e-9) && Value <= S.High * (1 + 1e-9))
          S.Ticks.push_back(tickAt(Value));
      }
    if (S.Ticks.size() <= Ticks)
      return S;
  }
  // There are more decades than ticks, so only every few decades get one.
  size_t Every = (S.Ticks.size() + Ticks - 1) / Ticks, At = 0;
  std::erase_if(S.Ticks, [&](const Tick &) { return At++ % Every; });
  return S;
}

double PlotScale::place(double Value) const {
  Value = std::clamp(Value, Low, High);
  return Log ? std::log(Value / Low) / std::log(High / Low) : (Value - Low) / (High - Low);
}
