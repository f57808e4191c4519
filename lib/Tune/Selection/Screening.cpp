// In every round, each subject takes its variants in a random permutation of its own.

#include "Tune/Selection/Screening.h"

#include "Support/Log.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <map>
#include <random>

using namespace carve;

namespace {

class Screening {
public:
  explicit Screening(SelectionRuns &Runs)
      : Runs(Runs), Subjects(Runs.Subjects), Limits(Runs.Limits), Random(Runs.Limits.Seed) {}

  llvm::Error screen();

private:
  size_t roundLength() const;
  std::vector<Assignment> planRound();
  llvm::Error screenOnce();
  void dropClearlyWorse();
  void nameCandidates();

  SelectionRuns &Runs;
  const std::vector<SubjectSpace> &Subjects;
  const SelectionLimits &Limits;
  std::mt19937_64 Random;
};

/// Whether a variant besides the default and the control is left. \p Active is ascending.
bool hasCandidates(const std::vector<size_t> &Active) {
  return !Active.empty() && Active.back() > 1;
}

size_t Screening::roundLength() const {
  size_t Length = 0;
  for (const std::vector<size_t> &A : Runs.Active)
    if (hasCandidates(A)) // A subject with no variant left to try needs no runs.
      Length = std::max(Length, A.size());
  return Length;
}

std::vector<Assignment> Screening::planRound() {
  std::vector<Assignment> Plan(roundLength(), Assignment(Subjects.size(), 0));
  for (size_t S = 0; S < Subjects.size(); ++S) {
    if (!hasCandidates(Runs.Active[S]))
      continue;
    std::vector<size_t> Order;
    while (Order.size() < Plan.size()) {
      std::vector<size_t> Permutation = Runs.Active[S];
      std::shuffle(Permutation.begin(), Permutation.end(), Random);
      llvm::append_range(Order, Permutation);
    }
    for (size_t I = 0; I < Plan.size(); ++I)
      Plan[I][S] = Order[I];
  }
  return Plan;
}

llvm::Error Screening::screenOnce() {
  std::map<Choice, std::vector<double>> Times;
  for (Assignment &A : planRound()) {
    if (!Runs.mayRun(1)) {
      Runs.Outcome.OutOfRuns = true;
      break;
    }
    if (!Runs.timeFor(1 + 2 * leastPairs(Subjects))) {
      logLine(llvm::formatv("the screening ends: {0:f1} of {1:f1} s are used, and the confirmation "
                            "needs {2} runs",
                            Limits.ElapsedS(), Limits.BudgetS, 2 * leastPairs(Subjects))
                  .str());
      Runs.Outcome.OutOfTime = true;
      break;
    }
    auto Sample = Runs.runWithoutFaults(A);
    if (!Sample)
      return Sample.takeError();
    if (!*Sample)
      continue;
    for (size_t S = 0; S < A.size(); ++S)
      if ((*Sample)->SubjectNs[S] > 0)
        Times[{S, A[S]}].push_back((*Sample)->SubjectNs[S]);
  }
  for (const auto &[C, Samples] : Times) {
    auto Default = Times.find({C.first, 0});
    if (C.second > 1 && Default != Times.end())
      Runs.screened(C).Ratios.push_back(median(Samples) / median(Default->second));
  }
  return llvm::Error::success();
}

void Screening::dropClearlyWorse() {
  for (size_t S = 0; S < Subjects.size(); ++S)
    llvm::erase_if(Runs.Active[S], [&](size_t V) {
      if (V <= 1)
        return false;
      const std::vector<double> &Ratios = Runs.screened({S, V}).Ratios;
      return !Ratios.empty() && median(Ratios) > Limits.ClearlyWorse;
    });
}

/// Whether some variant has neither a time nor a fault, and so was not tried.
bool hasUntried(const SubjectOutcome &O) {
  return llvm::any_of(O.Screened,
                      [](const ScreenedVariant &V) { return !V.Fault && V.Ratios.empty(); });
}

void Screening::nameCandidates() {
  for (size_t S = 0; S < Subjects.size(); ++S) {
    if (Subjects[S].Nominee || !Subjects[S].Stays.empty())
      continue;
    SubjectOutcome &O = Runs.Outcome.Subjects[S];
    double Best = Limits.ScreeningRatio, Least = 1e300;
    for (const ScreenedVariant &V : O.Screened) {
      if (V.Fault || V.Ratios.empty())
        continue;
      double Ratio = median(V.Ratios);
      Least = std::min(Least, Ratio);
      if (Ratio < Best) {
        Best = Ratio;
        O.Candidate = V.Variant;
      }
    }
    if (O.Candidate)
      continue;
    if (Runs.Outcome.OutOfTime && hasUntried(O))
      O.Reason = BudgetReason;
    else if (Runs.Outcome.OutOfRuns && hasUntried(O))
      O.Reason = "not all variants were tried within " + std::to_string(Limits.MaxRuns) + " runs";
    else if (Least < 1e300)
      O.Reason =
          numbersText("no variant was faster: the best took %.3f of the default's time", Least);
    else
      O.Reason = "no variant could be timed";
  }
}

llvm::Error Screening::screen() {
  Runs.expect(roundLength() * 2 + size_t(2) * leastPairs(Subjects));
  for (unsigned Round = 0; Round < Limits.ScreeningRounds && roundLength() > 0; ++Round) {
    if (llvm::Error E = screenOnce())
      return E;
    dropClearlyWorse();
  }
  nameCandidates();
  return llvm::Error::success();
}

} // namespace

llvm::Error carve::screenVariants(SelectionRuns &Runs) { return Screening(Runs).screen(); }
