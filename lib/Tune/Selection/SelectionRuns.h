/// \file
/// What the steps of a selection share: the runs, made and counted within their limits, and the
/// search for variants that break one. Screening and confirmation are written on it.
#pragma once

#include "Tune/Selection/Selection.h"

namespace carve {

/// A subject and a variant of it.
using Choice = std::pair<size_t, size_t>;

class SelectionRuns {
public:
  SelectionRuns(const std::vector<SubjectSpace> &Subjects, const SelectionLimits &Limits,
                RunFunction Run, ProgressFunction Progress);

  /// Runs \p A; where the run has a fault, finds and excludes the variants that bring it, puts
  /// their default into \p A and runs again. Nothing where the run is faulty without a culprit.
  llvm::Expected<std::optional<RunSample>> runWithoutFaults(Assignment &A);

  /// Says for the progress that \p More runs are to come.
  void expect(unsigned More) { Expected = std::max(Expected, Outcome.Runs + More); }
  /// Whether \p More are within the most that there may be.
  bool mayRun(unsigned More) const {
    return Limits.RunsBefore + Outcome.Runs + More <= Limits.MaxRuns;
  }
  /// Whether the budget has time for \p Runs more.
  bool timeFor(unsigned Runs) const;
  void finish() { Progress(Outcome.Runs, Outcome.Runs); }

  ScreenedVariant &screened(Choice C) { return Outcome.Subjects[C.first].Screened[C.second - 2]; }

  const std::vector<SubjectSpace> &Subjects;
  const SelectionLimits &Limits;
  /// Variants to be screened still, ascending, default and control first.
  std::vector<std::vector<size_t>> Active;
  SelectionOutcome Outcome;

private:
  llvm::Expected<RunSample> runOnce(const Assignment &A);
  llvm::Expected<std::vector<Choice>> findFaults(const Assignment &A, std::vector<size_t> Suspects);
  void exclude(Choice C, const std::string &Fault);

  RunFunction Run;
  ProgressFunction Progress;
  unsigned Expected = 0;
  double StartS;
};

/// \p Format with up to three numbers.
std::string numbersText(const char *Format, double A, double B = 0, double C = 0);

/// Pairs that a confirmation needs so that its interval can say anything.
unsigned leastPairs(const SelectionLimits &Limits);

} // namespace carve
