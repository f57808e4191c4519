#include "Tune/Selection/Selection.h"

#include "Tune/Selection/Confirmation.h"
#include "Tune/Selection/Screening.h"
#include "Tune/Selection/SelectionRuns.h"

using namespace carve;

llvm::StringRef carve::nameOf(ConfirmationEnd End) {
  switch (End) {
  case ConfirmationEnd::None:
    return "";
  case ConfirmationEnd::Decided:
    return "decided";
  case ConfirmationEnd::Sum:
    return "sum";
  case ConfirmationEnd::PairLimit:
    return "pair-limit";
  case ConfirmationEnd::RunLimit:
    return "run-limit";
  case ConfirmationEnd::Budget:
    return "budget";
  case ConfirmationEnd::Fault:
    return "fault";
  }
  return "";
}

llvm::Expected<SelectionOutcome> carve::selectVariants(const std::vector<SubjectSpace> &Subjects,
                                                       const SelectionLimits &Limits,
                                                       RunFunction Run, ProgressDisplay &Progress) {
  SelectionRuns Runs(Subjects, Limits, Run, Progress);
  if (llvm::Error E = screenVariants(Runs))
    return E;
  if (llvm::Error E = confirmCandidates(Runs))
    return E;
  Runs.finish();
  return std::move(Runs.Outcome);
}
