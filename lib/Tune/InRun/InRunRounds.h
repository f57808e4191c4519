/// \file
/// The rounds of a timing run, sorted by subject and shape out of the records: what InRunSelection
/// computes with.
#pragma once

#include "Tune/InRun/InRunSelection.h"

namespace carve {

/// Times of one round by variant; 0 where the variant was not in it.
struct InRunRound {
  bool HeldOut = false;
  std::vector<double> ColdNs, WarmNs; ///< Of rotation, ColdNs has the time and WarmNs nothing.
};

/// A shape with its rounds.
struct InRunShape {
  double TotalNs = 0; ///< In the traced run.
  InRunTiming Timing = InRunTiming::None;
  std::vector<InRunRound> Rounds;
  double ColdNs = 0, WarmNs = 0; ///< Medians of the default.
  double WarmWeight = 0;         ///< With which they make the traced mean, 0 to 1.

  /// Of \p Variant to the default in the rounds that have both, held out or not.
  std::vector<double> ratios(size_t Variant, bool HeldOut) const;
  /// Rounds that have the default.
  size_t rounds(bool HeldOut) const;
};

/// The shapes of \p Subject in its order. A shape that was replayed has the rounds of all its
/// replays and processes; one that was not, those of rotation.
std::vector<InRunShape> inRunShapes(const InRunSubject &Subject, const InRunRecord &Record);

} // namespace carve
