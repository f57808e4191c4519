/// \file
/// Simulates a timing run for tests of the judgement. Variants have true times, noise, drift and
/// outliers, and kernels are replayed or rotated as the probe does it.
#pragma once

#include "Tune/InRun/InRunSelection.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <random>

namespace carve {

/// A launch shape of a kernel. Times are by variant: the default and the control come first.
struct SimulatedShape {
  std::vector<double> ColdNs;
  std::vector<double> WarmNs; ///< Empty if the kernel is not idempotent and has no warm times.
  uint64_t Launches = 10;
  double TracedNs = 0; ///< Traced mean of the default; if 0, its warm time, or else its cold time.
};

/// Makes the records of a timing run.
class SimulatedRun {
public:
  double Noise = 0.003; ///< Standard deviation of a time, relative.
  double Drift = 0;     ///< By how much times have grown when the run ends.
  double Outliers = 0;  ///< Share of times that are five times as long.
  unsigned Screening = 5, Confirming = 7, Cycles = 20;
  InRunRecord Record;
  std::vector<InRunSubject> Subjects;

  explicit SimulatedRun(uint64_t Seed = 12345) : Random(Seed) {}

  /// The place of shape \p Shape of kernel \p Kernel: shapes differ in their grid.
  static LaunchPlace place(size_t Kernel, size_t Shape, unsigned Launch = 0) {
    LaunchPlace P;
    P.Kernel = "k" + std::to_string(Kernel);
    P.Shape.Grid = {unsigned(Shape + 1), 1, 1};
    P.Launch = Launch;
    return P;
  }

  /// The name of variant \p V: `default`, `control`, `r32`, `r64`, ...
  static std::string variant(size_t V) {
    return V == 0 ? DefaultVariant : V == 1 ? ControlVariant : "r" + std::to_string(32 * (V - 1));
  }

  /// Replays a launch of every shape of a new kernel; all variants leave equal output.
  void replay(const std::vector<SimulatedShape> &Shapes) {
    size_t Kernel = subject(Shapes);
    for (size_t S = 0; S < Shapes.size(); ++S)
      replayLaunch(place(Kernel, S), Shapes[S]);
  }
  /// Replays another launch of a kernel that is there already.
  void replayLaunch(const LaunchPlace &Place, const SimulatedShape &Shape) {
    std::vector<std::pair<double, size_t>> Best;
    std::vector<size_t> All;
    for (size_t V = 0; V < Shape.ColdNs.size(); ++V) {
      Record.Verified.push_back({Place, variant(V), Verdict::Equal, ""});
      All.push_back(V);
    }
    for (size_t V : All) {
      std::vector<double> Times;
      for (unsigned R = 0; R < Screening; ++R)
        Times.push_back(timed(Place, Shape, false, R, V, R));
      if (V > 1)
        Best.emplace_back(median(Times), V);
    }
    std::sort(Best.begin(), Best.end());
    std::vector<size_t> Held = {0, 1};
    for (size_t I = 0; I < std::min<size_t>(2, Best.size()); ++I)
      Held.push_back(Best[I].second);
    for (size_t V : Held)
      for (unsigned R = 0; R < Confirming; ++R)
        timed(Place, Shape, true, R, V, Screening + R);
  }

  /// Rotates the launches of a new kernel. Every variant runs once per cycle.
  void rotate(const std::vector<SimulatedShape> &Shapes) {
    size_t Kernel = subject(Shapes);
    for (size_t S = 0; S < Shapes.size(); ++S)
      for (unsigned C = 0; C < Cycles; ++C)
        for (size_t V = 0; V < Shapes[S].ColdNs.size(); ++V)
          Record.Rotated.push_back({place(Kernel, S).Kernel, place(Kernel, S).Shape, C, variant(V),
                                    noisy(Shapes[S].ColdNs[V], double(C) / Cycles)});
  }

  std::vector<InRunOutcome> select(const InRunLimits &Limits = {}) const {
    return selectInRun(Subjects, Record, Limits);
  }
  InRunOutcome selectOne(const InRunLimits &Limits = {}) const { return select(Limits).front(); }

  /// Sets the verdict of \p Variant of \p Kernel at its first shape.
  void setVerdict(size_t Kernel, size_t Variant, Verdict V, std::string Detail) {
    for (VerifiedVariant &Old : Record.Verified)
      if (Old.Place == place(Kernel, 0) && Old.Variant == variant(Variant)) {
        Old.Result = V;
        Old.Detail = Detail;
      }
  }

private:
  size_t subject(const std::vector<SimulatedShape> &Shapes) {
    InRunSubject S;
    S.Kernel = place(Subjects.size(), 0).Kernel;
    for (size_t V = 0; V < Shapes.front().ColdNs.size(); ++V)
      S.Variants.push_back(variant(V));
    for (size_t I = 0; I < Shapes.size(); ++I) {
      double Mean = Shapes[I].TracedNs;
      if (Mean == 0)
        Mean = Shapes[I].WarmNs.empty() ? Shapes[I].ColdNs[0] : Shapes[I].WarmNs[0];
      S.Shapes.push_back({place(0, I).Shape, Shapes[I].Launches, Mean * Shapes[I].Launches});
    }
    Subjects.push_back(S);
    return Subjects.size() - 1;
  }
  double timed(const LaunchPlace &Place, const SimulatedShape &Shape, bool Confirming,
               unsigned Round, size_t V, unsigned When) {
    double Progress = double(When) / (Screening + this->Confirming);
    double Cold = noisy(Shape.ColdNs[V], Progress);
    double Warm = Shape.WarmNs.empty() ? 0 : noisy(Shape.WarmNs[V], Progress);
    Record.Timed.push_back({Place, Confirming, Round, variant(V), Cold, Warm});
    return Cold;
  }
  double noisy(double Ns, double Progress) {
    Ns *= (1 + Noise * Normal(Random)) * (1 + Drift * Progress);
    return Uniform(Random) < Outliers ? 5 * Ns : Ns;
  }

  std::mt19937_64 Random;
  std::normal_distribution<double> Normal;
  std::uniform_real_distribution<double> Uniform;
};

/// A shape whose default and control take \p Ns, and whose other variants take \p Ns times \p
/// Ratios.
inline SimulatedShape shapeOf(std::vector<double> Ratios, double Ns = 1e5) {
  SimulatedShape S;
  S.ColdNs = {Ns, Ns};
  for (double R : Ratios)
    S.ColdNs.push_back(Ns * R);
  return S;
}

} // namespace carve
