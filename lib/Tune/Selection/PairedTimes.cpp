#include "Tune/Selection/PairedTimes.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

using namespace carve;

static double mean(const std::vector<double> &Values) {
  return std::accumulate(Values.begin(), Values.end(), 0.0) / double(Values.size());
}

static double squaredDeviations(const std::vector<double> &Values) {
  double Mean = mean(Values), Sum = 0;
  for (double Value : Values)
    Sum += (Value - Mean) * (Value - Mean);
  return Sum;
}

static std::vector<double> logarithms(std::vector<double> Values) {
  for (double &Value : Values)
    Value = std::log(Value);
  return Values;
}

std::vector<double> PairedTimes::ratios() const {
  std::vector<double> Ratios;
  for (size_t I = 0; I < Tuned.size(); ++I)
    Ratios.push_back(Tuned[I] / Default[I]);
  return Ratios;
}

PairedTimes PairedTimes::withEarlierDefaults() const {
  PairedTimes All = *this;
  for (double Ns : std::exchange(All.Earlier, {})) {
    All.Tuned.push_back(Tuned.back());
    All.Default.push_back(Ns);
    ++All.SharingTuned;
  }
  return All;
}

/// The times of all runs of the default, each once.
static std::vector<double> defaultRuns(const PairedTimes &Times) {
  std::vector<double> Runs(Times.Default.begin(), Times.Default.end() - Times.Sharing);
  Runs.insert(Runs.end(), Times.Earlier.begin(), Times.Earlier.end());
  return Runs;
}

/// The times of all runs of the tuned version, each once.
static std::vector<double> tunedRuns(const PairedTimes &Times) {
  return {Times.Tuned.begin(), Times.Tuned.end() - Times.SharingTuned};
}

namespace {

/// How sure the mean logarithm of the ratios is.
struct Certainty {
  double Error = 0; ///< The standard error.
  unsigned Dof = 1; ///< Its degrees of freedom.
};

Certainty certaintyOf(const PairedTimes &Times) {
  assert(Times.count() >= 2 && "one pair has no scatter");
  double Count = double(Times.count());
  double Paired = squaredDeviations(logarithms(Times.ratios())) / (Count - 1) / Count;
  const std::vector<double> Defaults = defaultRuns(Times), Tuned = tunedRuns(Times);
  // Variances of both mean logarithms. Earlier runs are in no pair.
  double OfMeans = 1 / double(Tuned.size()) + 1 / double(Defaults.size() - Times.Earlier.size());
  double Usual = Tuned.size() == 1 ? ScatterOfMost : UsualScatter;
  unsigned Dof = Defaults.size() + Tuned.size() - 2 + /*the usual scatter*/ 1;
  double OfRun = (squaredDeviations(logarithms(Defaults)) + squaredDeviations(logarithms(Tuned)) +
                  Usual * Usual) /
                 Dof;
  return {std::sqrt(std::max(Paired, OfMeans * OfRun)), Dof};
}

} // namespace

RatioInterval carve::pairedInterval(const PairedTimes &Times, double Level) {
  std::vector<double> Ratios = Times.ratios(), Logarithms = logarithms(Ratios);
  if (Ratios.size() == 1)
    return {Ratios[0], Ratios[0], Ratios[0]};
  bool ByRanks = Times.count() >= RankedPairs && std::ldexp(1.0, -int(Times.count())) <= Level;
  if (ByRanks) {
    Interval I = signedRankInterval(Logarithms, Level);
    return {median(Ratios), std::exp(I.Low), std::exp(I.High)};
  }
  Certainty C = certaintyOf(Times);
  double Mean = mean(Logarithms), Reach = studentQuantile(Level, C.Dof) * C.Error;
  return {median(Ratios), std::exp(Mean - Reach), std::exp(Mean + Reach)};
}

RatioInterval carve::unpairedInterval(const PairedTimes &Times) {
  const std::vector<double> Defaults = defaultRuns(Times), Tuned = tunedRuns(Times);
  auto [FastestTuned, SlowestTuned] = std::minmax_element(Tuned.begin(), Tuned.end());
  auto [FastestDefault, SlowestDefault] = std::minmax_element(Defaults.begin(), Defaults.end());
  return {median(Tuned) / median(Defaults), *FastestTuned / *SlowestDefault,
          *SlowestTuned / *FastestDefault};
}

bool carve::areApart(const PairedTimes &Times, double Predicted) {
  return Predicted <= 1 - ApartGain && tunedRuns(Times).size() >= ApartTuned &&
         defaultRuns(Times).size() >= ApartDefault &&
         unpairedInterval(Times).High <= (1 + Predicted) / 2;
}

/// Whether more pairs, up to \p MostPairs, would hardly make a winner.
static bool isHopeless(const PairedTimes &Times, const WinningBounds &Bounds, unsigned MostPairs) {
  const ConfirmationLook &Last = *std::prev(std::end(ConfirmationLooks));
  Certainty C = certaintyOf(Times);
  double Lowest = std::log(median(Times.ratios())) - studentQuantile(0.1, C.Dof) * C.Error;
  double LastError = C.Error * std::sqrt(double(Times.count()) / std::max(MostPairs, 1u));
  // With few pairs the control's distance is little more than scatter.
  double High = Times.count() < RankedPairs ? Bounds.LeastHigh : Bounds.High;
  double Needed = std::log(High) - studentQuantile(Last.Level, 2 * Last.Pairs - 2) * LastError;
  return Lowest > std::min(std::log(Bounds.Ratio), Needed);
}

PairedVerdict carve::judgePairs(const PairedTimes &Times, double Level, const WinningBounds &Bounds,
                                unsigned MostPairs) {
  RatioInterval R = pairedInterval(Times, Level);
  if (R.Median <= Bounds.Ratio && R.High < Bounds.High &&
      Times.Default.size() + Times.Earlier.size() >= LeastDefaultRuns)
    return PairedVerdict::Wins;
  return isHopeless(Times, Bounds, MostPairs) ? PairedVerdict::Loses : PairedVerdict::Open;
}

bool carve::supports(const PairedTimes &Times, double Predicted) {
  RatioInterval R = pairedInterval(Times, 0.02);
  return Predicted < 1 && R.Median < (1 + Predicted) / 2 && R.High < 1;
}
