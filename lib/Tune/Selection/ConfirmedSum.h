/// \file
/// Whether the program as a whole has become as fast as the timing runs predict for several
/// candidates together. If it has, they need not be confirmed one by one.
#pragma once

#include "Tune/Selection/ConfirmedPairs.h"
#include "Tune/Selection/Selection.h"

#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace carve {

/// The sum of what candidates gain, in the pairs of one confirmation.
class ConfirmedSum {
public:
  /// Keeps references to all arguments. \p Measured has the subjects' ratios so far.
  ConfirmedSum(const ConfirmedPairs &Pairs, const std::vector<SubjectSpace> &Subjects,
               const SelectionLimits &Limits, const std::vector<SubjectOutcome> &Measured)
      : Pairs(Pairs), Subjects(Subjects), Limits(Limits), Measured(Measured) {}

  /// The GPU times of the program with the candidates of \p Standing only.
  PairedTimes programTimes(llvm::ArrayRef<size_t> Standing) const {
    return Pairs.programTimes(Standing, Limits.EarlierProgramNs);
  }
  /// Whether the program's ratio is below \p High, and is what timing runs predict for the subjects
  /// \p Standing together: its logarithm is off that by at most the part \p Tolerance of it.
  bool isAsPredicted(llvm::ArrayRef<size_t> Standing, double Level, double High,
                     double Tolerance) const;
  /// Whether the program's times are surely longer than they would be if the subjects \p Standing
  /// alone had changed: each gains what timing runs predict or what its own times show, whichever
  /// is less. Then something else has become slower.
  bool isContradicted(llvm::ArrayRef<size_t> Standing, double Level) const;
  /// Whether the program's times confirm the subjects \p Standing together, so that those which are
  /// \p Open need not be confirmed one by one.
  ///
  /// An open subject has been nominated by a timing run, which names a variant without gain for at
  /// most one kernel of twenty. The weaker test of its own times (supports()) makes that rare
  /// enough.
  bool isConfirmed(llvm::ArrayRef<size_t> Standing, llvm::ArrayRef<size_t> Open,
                   double Level) const;

  /// The program's ratio if every subject of \p Standing has its predicted ratio, or its measured
  /// one if there is no prediction.
  double predicted(llvm::ArrayRef<size_t> Standing) const;

private:
  template <class Function>
  double programRatio(llvm::ArrayRef<size_t> Standing, Function RatioOf) const;

  const ConfirmedPairs &Pairs;
  const std::vector<SubjectSpace> &Subjects;
  const SelectionLimits &Limits;
  const std::vector<SubjectOutcome> &Measured;
};

} // namespace carve
