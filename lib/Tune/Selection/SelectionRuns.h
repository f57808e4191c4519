/// \file
/// Makes and counts the runs of a selection within their limits, and searches for the variants that
/// break a run. Screening and Confirmation share it.
#pragma once

#include "Tune/Selection/Selection.h"

namespace carve {

/// A subject and one of its variants.
using Choice = std::pair<size_t, size_t>;

/// The runs of one selection and what they have found so far.
class SelectionRuns {
public:
  /// Keeps references to \p Subjects and \p Limits; both must outlive it.
  SelectionRuns(const std::vector<SubjectSpace> &Subjects, const SelectionLimits &Limits,
                RunFunction Run, ProgressDisplay &Progress);

  /// Runs \p A. If the run has a fault, finds and excludes the variants that cause it, replaces
  /// them by their default in \p A, and runs again. Those that are suspected first are excluded
  /// already if a run without them has no fault: of subjects that vary by themselves, and those
  /// that may move last bits. Returns nothing if the run has a fault three times.
  llvm::Expected<std::optional<RunSample>> runWithoutFaults(Assignment &A);

  /// Tells the progress display to expect \p More runs.
  void expect(unsigned More) { Expected = std::max(Expected, Outcome.Runs + More); }
  /// Whether the limit on runs allows \p More runs.
  bool mayRun(unsigned More) const {
    return Limits.RunsBefore + Outcome.Runs + More <= Limits.MaxRuns;
  }
  /// Whether the budget has time for \p Runs more runs, judged by the mean time of those made.
  bool timeFor(unsigned Runs) const;
  /// The same, but judged by the longest run so far, or by the mean time if that is more.
  bool surelyTimeFor(unsigned Runs) const;
  /// Reports that all runs are made.
  void finish() { tell(Outcome.Runs); }

  /// The entry of \p C, which must not be the default or the control.
  ScreenedVariant &screened(Choice C) {
    return Outcome.Subjects[C.first].Screened[C.second - FirstPlace];
  }

  const std::vector<SubjectSpace> &Subjects;
  const SelectionLimits &Limits;
  /// Variants of each subject that are still screened, ascending: default and control come first.
  std::vector<std::vector<size_t>> Active;
  SelectionOutcome Outcome;
  /// The last fault whose cause was not looked for, because the budget had no time for it.
  std::string Unexplained;

private:
  double meanRunS() const;
  bool timeFor(unsigned Runs, double EachS) const;
  void tell(unsigned InAll) const;
  llvm::Expected<RunSample> runOnce(const Assignment &A);
  llvm::Expected<std::vector<Choice>> findFaults(const Assignment &A, std::vector<size_t> Suspects);
  llvm::Expected<std::optional<RunSample>> leaveSuspects(Assignment &A, const std::string &Fault);
  void exclude(Choice C, const std::string &Fault);

  RunFunction Run;
  ProgressDisplay &Progress;
  bool FoundInTime = true; ///< Whether findFaults() had time for all runs.
  unsigned Expected = 0;
  double StartS;
  double LongestS = 0; ///< Seconds of the longest run so far.
};

/// Prints up to three numbers with the printf format \p Format.
std::string numbersText(const char *Format, double A, double B = 0, double C = 0);

/// The pairs after which a confirmation of \p Subjects can decide at the earliest.
unsigned leastPairs(const std::vector<SubjectSpace> &Subjects);

/// Whether there are nominees of \p Subjects that vary by themselves and others that do not, so
/// that a run without the former may tell that a fault is theirs.
bool mayLeaveVarying(const std::vector<SubjectSpace> &Subjects);

} // namespace carve
