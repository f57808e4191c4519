#include "Tune/InRun/LeftOverVariants.h"

#include "Tune/Selection/Selection.h"

using namespace carve;

std::vector<size_t> LeftOverVariants::of(size_t Kernel, const InRunOutcome &Outcome) const {
  std::vector<size_t> Left;
  if (!Outcome.NotReplayed.empty() && Outcome.NotReplayed != BudgetReason)
    return Left;
  for (const auto &[V, Runs] : RunsOf[Kernel]) {
    bool Timed = V < Outcome.Ratios.size() && Outcome.Ratios[V] > 0;
    if (Runs < MostRuns && !Timed && !Outcome.isRejected(V))
      Left.push_back(V);
  }
  return Left;
}

void LeftOverVariants::giveUp(size_t Kernel) {
  for (auto &[V, Runs] : RunsOf[Kernel])
    Runs = MostRuns;
}

void LeftOverVariants::giveUpBeyond(size_t Most, size_t Kernel, const InRunOutcome &Outcome) {
  std::vector<size_t> Left = of(Kernel, Outcome);
  for (size_t I = Most; I < Left.size(); ++I)
    RunsOf[Kernel][Left[I]] = MostRuns;
}
