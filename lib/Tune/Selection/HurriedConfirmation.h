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
  /// Whether there is a single run of the candidates, and the traced one of the default.
  bool isByOneRun() const { return isLone() && Pairs.last().IsTraced; }
  /// The look that these pairs allow.
  const ConfirmationLook &look() const { return isLone() ? LoneLook : HurriedLook; }
  /// Whether a single run of the candidates of \p Standing may confirm some of them: the traced run
  /// is known, and a timing run has compared the output of one that gains GainForOneRun.
  bool mayDoWithOneRun(llvm::ArrayRef<size_t> Standing) const;
  /// The traced run as the default's part of a pair.
  ConfirmedPair tracedDefault() const;

  /// Those of \p Standing that are sure, and sets their ratios. If the program's times scatter too
  /// much to confirm what they gain together, or are far from what was predicted, they are those
  /// that their own times prove.
  HurriedWinners winners(llvm::ArrayRef<size_t> Standing);
  /// Those of \p Standing that are sure and whose own times prove a gain; none if the program's
  /// times contradict it. Sets the ratios of all that are sure.
  std::vector<size_t> proven(llvm::ArrayRef<size_t> Standing);
  /// The program's ratio with the candidates of \p Standing, at \p Level. If winners are known by
  /// runs that are apart, or by one run, its interval is found like theirs.
  RatioInterval programRatio(llvm::ArrayRef<size_t> Standing, double Level) const;

private:
  bool isSure(size_t S);
  bool isSureByOneRun(size_t S);
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

/// The upper end of its interval must be below this for a subject whose control copy is off by \p
/// ControlDistance to win.
double highBound(const SelectionLimits &Limits, double ControlDistance);

} // namespace carve
