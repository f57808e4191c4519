#include "Tune/InRun/InRunRatios.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cstdint>
#include <utility>

using namespace carve;

InRunRatios::InRunRatios(const InRunSubject &Subject, const InRunRecord &Record,
                         const InRunLimits &Limits)
    : Subject(Subject), Limits(Limits), Shapes(inRunShapes(Subject, Record)) {
  for (const InRunShape &S : Shapes)
    TotalNs += S.WeightNs;
}

/// The rounds without which nothing is known of the shape \p S. Replays of long launches make
/// fewer, and the smallest and largest of their ratios are the interval.
LeastRounds InRunRatios::leastRounds(const InRunShape &S) const {
  const InRunSubject::TracedShape &Traced = Subject.Shapes[&S - Shapes.data()];
  PlannedShape Planned = PlannedShape::ofMean(Traced.replayedNs());
  if (S.Timing == InRunTiming::Replay && Planned.isLong())
    return Planned.leastRounds();
  return {Limits.ChoosingRounds, unsigned(leastCount(1 - 2 * Limits.Alpha)), 1};
}

bool InRunRatios::covered(const InRunShape &S) const {
  LeastRounds Least = leastRounds(S);
  return S.rounds(false) >= Least.Choosing && S.rounds(true) >= Least.HeldOut;
}

static void addWeighted(RatioInterval &Sum, const RatioInterval &R, double Weight) {
  Sum.Median += Weight * R.Median;
  Sum.Low += Weight * R.Low;
  Sum.High += Weight * R.High;
}

bool InRunRatios::leavesDefault(const InRunShape &S, size_t Variant) const {
  return Subject.Partial.count(Variant) && S.allRatios(Variant).empty();
}

RatioInterval InRunRatios::choosing(size_t Variant) const {
  RatioInterval Sum = {0, 0, 0};
  bool Timed = false;
  for (size_t I = 0; I < Shapes.size(); ++I) {
    const InRunShape &S = Shapes[I];
    bool IsRun = covered(S) && !leavesDefault(S, Variant);
    Timed |= IsRun;
    double Ns = IsRun ? weightNs(Subject, I, Variant) : 0;
    addWeighted(Sum, RatioInterval(), (S.WeightNs - Ns) / TotalNs);
    if (!IsRun)
      continue;
    std::vector<double> Ratios = S.ratios(Variant, false);
    if (Ratios.empty())
      return {0, 0, 0};
    addWeighted(Sum, ratioInterval(std::move(Ratios)), Ns / TotalNs);
  }
  return Timed ? Sum : RatioInterval{0, 0, 0};
}

bool InRunRatios::stayedInTheRace(size_t Variant) const {
  return llvm::all_of(Shapes, [&](const InRunShape &S) {
    return !covered(S) || leavesDefault(S, Variant) ||
           2 * S.ratios(Variant, false).size() >= S.rounds(false);
  });
}

std::optional<RatioInterval> InRunRatios::control() const {
  RatioInterval Sum = {0, 0, 0};
  for (const InRunShape &S : Shapes) {
    RatioInterval R;
    if (covered(S)) {
      std::vector<double> Ratios = S.allRatios(ControlPlace);
      if (Ratios.empty())
        return std::nullopt;
      R = ratioInterval(std::move(Ratios));
    }
    addWeighted(Sum, R, S.WeightNs / TotalNs);
  }
  return Sum;
}

/// The medians of \p Count consecutive groups of \p Values.
static std::vector<double> groupMedians(const std::vector<double> &Values, size_t Count) {
  std::vector<double> Medians;
  for (size_t I = 0; I < Count; ++I)
    Medians.push_back(median({Values.begin() + Values.size() * I / Count,
                              Values.begin() + Values.size() * (I + 1) / Count}));
  return Medians;
}

std::vector<double> InRunRatios::heldOut(size_t Variant) const {
  double FixedNs = 0;
  std::vector<std::pair<double, std::vector<double>>> Varying; // Time of the shape and ratios.
  size_t Count = SIZE_MAX;
  for (size_t I = 0; I < Shapes.size(); ++I) {
    const InRunShape &S = Shapes[I];
    if (!covered(S) || leavesDefault(S, Variant)) {
      FixedNs += S.WeightNs;
      continue;
    }
    double Ns = weightNs(Subject, I, Variant);
    FixedNs += S.WeightNs - Ns;
    std::vector<double> Ratios = S.ratios(Variant, true);
    if (Ratios.size() >= leastRounds(S).HeldOut) {
      Count = std::min(Count, Ratios.size());
      Varying.emplace_back(Ns, std::move(Ratios));
      continue;
    }
    Ratios = S.ratios(Variant, false);
    if (Ratios.empty())
      return {};
    FixedNs += Ns * ratioInterval(std::move(Ratios)).High;
  }
  if (Varying.empty())
    return {};
  std::vector<double> Sums(Count, FixedNs / TotalNs);
  for (const auto &[Weight, Ratios] : Varying) {
    std::vector<double> Groups = groupMedians(Ratios, Count);
    for (size_t I = 0; I < Count; ++I)
      Sums[I] += Weight / TotalNs * Groups[I];
  }
  return Sums;
}

std::vector<InRunShapeTimes> InRunRatios::byShape() const {
  std::vector<InRunShapeTimes> Times(Shapes.size());
  for (size_t I = 0; I < Shapes.size(); ++I) {
    Times[I].TotalNs = Subject.Shapes[I].TotalNs;
    for (size_t V = 0; covered(Shapes[I]) && V < Subject.Variants.size(); ++V) {
      std::vector<double> Ratios = Shapes[I].allRatios(V);
      Times[I].Ratios.push_back(Ratios.empty() ? RatioInterval{0, 0, 0}
                                               : ratioInterval(std::move(Ratios)));
    }
  }
  for (size_t I = 0; I < Shapes.size(); ++I) {
    std::optional<size_t> By = Subject.Shapes[I].Representative;
    if (!By)
      continue;
    // Two segments of one shape have the same grid, so it can have code of its own all the same.
    const LaunchShape &Own = Subject.Shapes[I].Shape, &Its = Subject.Shapes[*By].Shape;
    if (Own == Its || Own.undivided() != Its.undivided())
      Times[I].InGroup = Times[*By].InGroup = true;
    Times[I].Ratios = Times[*By].Ratios;
    for (size_t V = 0; V < Times[I].Ratios.size(); ++V)
      if (!runSameCode(Subject, V, I, *By))
        Times[I].Ratios[V] = {0, 0, 0};
  }
  return Times;
}
