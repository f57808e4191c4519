/// \file
/// What the pairs of a confirmation tell if there is no time for more: which candidates are sure by
/// the few runs that were made, together with what timing runs have measured of them.
#pragma once

#include "Tune/Selection/ConfirmedSum.h"
#include "Tune/Selection/PairedTimes.h"
#include "Tune/Selection/Selection.h"

#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace carve {

/// The candidates that are sure in haste.
struct HurriedWinners {
  std::vector<size_t> Subjects;
  bool BySum = false; ///< Whether the program gained what is predicted for all of them together.
};

/// Judges the pairs of one confirmation when time is up.
class HurriedConfirmation {
public:
  /// Keeps references to all arguments.
  HurriedConfirmation(const std::vector<SubjectSpace> &Subjects, const SelectionLimits &Limits,
                      const ConfirmedPairs &Pairs, const ConfirmedSum &Sum,
                      SelectionOutcome &Outcome)
      : Subjects(Subjects), Limits(Limits), Pairs(Pairs), Sum(Sum), Outcome(Outcome) {}

  /// Whether there is a single pair, whose run of the candidates is the only one.
  bool isLone() const { return Pairs.size() == LoneLook.Pairs; }
  /// Whether the traced run is the only one of the default. Beside it there is one run of the
  /// candidates, or a second one if there was time for it after all.
  bool isBesideTraced() const {
    return Pairs.last().IsTraced && (isLone() || Pairs.last().SharesDefault);
  }
  /// The look that these pairs allow.
  const ConfirmationLook &look() const { return isLone() ? LoneLook : HurriedLook; }
  /// Those of \p Standing whose candidates a single run may confirm: the traced run is known, and a
  /// timing run has compared what they write and predicts GainForOneRun or more.
  std::vector<size_t> ableByOneRun(llvm::ArrayRef<size_t> Standing) const;
  /// The traced run as the default's part of a pair.
  ConfirmedPair tracedDefault() const;

  /// Those of \p Standing that are sure. Sets the ratios of those whose times support what was
  /// predicted. If the program's times scatter too
  /// much to confirm what they gain together, or are far from what was predicted, they are those
  /// that their own times prove.
  HurriedWinners winners(llvm::ArrayRef<size_t> Standing);
  /// Those of \p Standing that are sure and whose own times prove a gain; none if the program's
  /// times contradict it. Sets ratios as winners() does.
  std::vector<size_t> proven(llvm::ArrayRef<size_t> Standing);
  /// The program's ratio with the candidates of \p Standing, at \p Level. If winners are known by
  /// runs that are apart, or beside the traced run, its interval is found like theirs.
  RatioInterval programRatio(llvm::ArrayRef<size_t> Standing, double Level) const;

private:
  bool isSure(size_t S);
  bool isSureBesideTraced(size_t S);
  bool isSureByPairs(size_t S);
  std::vector<size_t> sure(llvm::ArrayRef<size_t> Standing);
  std::vector<size_t> provenOf(std::vector<size_t> Sure) const;

  const std::vector<SubjectSpace> &Subjects;
  const SelectionLimits &Limits;
  const ConfirmedPairs &Pairs;
  const ConfirmedSum &Sum;
  SelectionOutcome &Outcome;
  bool SomeAreApart = false; ///< Whether some are sure because their runs are apart.
};

} // namespace carve
