/// \file
/// Sorts the records of a timing run into rounds, by subject and shape. InRunSelection computes its
/// ratios from these rounds.
#pragma once

#include "Tune/InRun/InRunSelection.h"

namespace carve {

/// The times of one round by variant, in ns. A time is 0 if the variant was not in the round.
struct InRunRound {
  /// Whether it judges candidates. The other rounds choose them.
  bool HeldOut = false;
  std::vector<double> ColdNs, WarmNs; ///< For rotated launches, only ColdNs is set.
};

/// A launch shape of one subject with its rounds.
struct InRunShape {
  /// GPU time of the launches for which its ratios count, in the traced run: its own and those of
  /// the shapes that it represents; 0 if another shape represents it.
  double WeightNs = 0;
  InRunTiming Timing = InRunTiming::None;
  std::vector<InRunRound> Rounds;
  double ColdNs = 0, WarmNs = 0; ///< Medians of the default's times.
  double WarmWeight = 0; ///< The weight of WarmNs, 0 to 1, that makes the mean the traced one.

  /// The time of \p Variant over the default's, for each round that has both. \p HeldOut selects
  /// the rounds.
  std::vector<double> ratios(size_t Variant, bool HeldOut) const;
  /// The same for all rounds: first those that choose, then the others.
  std::vector<double> allRatios(size_t Variant) const;
  /// The number of rounds that have the default. \p HeldOut selects the rounds.
  size_t rounds(bool HeldOut) const;
};

/// The shapes of \p Subject, in its order. A replayed shape has the rounds of all its replays in
/// all processes, with the control copy's time where the default's was disturbed. Other shapes have
/// the cycles of rotation as rounds, if there are any. Shapes with a representative have none.
std::vector<InRunShape> inRunShapes(const InRunSubject &Subject, const InRunRecord &Record);

/// Whether all launches of two shapes of \p Subject, given by number, run the same code of \p
/// Variant, as far as that is known.
bool runSameCode(const InRunSubject &Subject, size_t Variant, size_t ShapeA, size_t ShapeB);

/// GPU time, in the traced run, of the launches for which the ratios of \p Variant at shape number
/// \p Shape count: InRunShape::WeightNs, but of a partial variant only the launches that run the
/// same code.
double weightNs(const InRunSubject &Subject, size_t Shape, size_t Variant);

} // namespace carve
