#include "Tune/TuneState.h"

#include "Support/Clock.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <numeric>

using namespace carve;

TuneState::TuneState(const TuneRequest &Request, CommandRunner &Runner)
    : Request(Request), Runner(Runner), Start(std::chrono::steady_clock::now()),
      Progress(*Request.Progress),
      Check(
          [this](const probe::TimeStretch &Stretch) {
            return runWorkload(workload(), this->Request.Probe, {}, this->Runner, Stretch, gpus());
          },
          // Without a stretched run, no program that prints times would be tuned.
          [this](bool Stretched) {
            return Stretched && !LeavesVarying ? std::nullopt : whyNoTime();
          }) {
  if (!recorded())
    Gpus.emplace(Request.Gpus, llvm::join(Request.Workload.Argv, " "), *Request.Progress);
}

WorkloadSpec TuneState::workload(size_t Gpu) const {
  WorkloadSpec Spec = Request.Workload;
  if (!Several.empty())
    Spec.Environment.push_back("CUDA_VISIBLE_DEVICES=" + Several[Gpu].Gpu.Uuid);
  return Spec;
}

double TuneState::seconds() const { return secondsSince(Start); }

void TuneState::noteRun(double WallS, double ReplaysS) {
  OtherRunsS.push_back(std::clamp(WallS - ReplaysS, PlainWallS / 2, 2 * PlainWallS));
}

double TuneState::runS() const {
  return std::accumulate(OtherRunsS.begin(), OtherRunsS.end(), PlainWallS) /
         double(1 + OtherRunsS.size());
}

void TuneState::setBudget() {
  const TuningOptions &Options = Request.Options;
  BudgetS = Request.Limits.BudgetS;
  if (BudgetS <= 0 && !recorded() && Options.Scope == TuningScope::Kernel &&
      (Options.Points == PointSet::Critical || Options.Points == PointSet::Decided))
    BudgetS = RoundBudget::defaultS(PlainWallS, Options.Effort);
}

std::optional<double> TuneState::secondsLeft() const {
  if (BudgetS <= 0)
    return std::nullopt;
  return std::max(0.0, BudgetS - seconds());
}

std::optional<std::string> TuneState::whyNoTime(bool BeginsRound) const {
  std::optional<double> Left = secondsLeft();
  if (!Left)
    return std::nullopt;
  std::string Budget = "the budget of " + llvm::formatv("{0:f1} s", BudgetS).str();
  if (*Left <= runS())
    return Budget + " is used up";
  // A stretched run takes up to half as long again, and what a run takes is an estimate.
  constexpr double CheckAndOneMore = 3;
  if (LeavesVarying && *Left - ShareAfterRuns * BudgetS <= CheckAndOneMore * runS())
    return "what is left of " + Budget + " is needed to find the kernel at fault";
  bool Keeps = !SelectsByRuns && (BeginsRound || Prospect.InHand >= LeastPromise);
  if (Keeps && secondsForRound() == 0.0)
    return "what is left of " + Budget + " is needed to confirm";
  return std::nullopt;
}

std::optional<double> TuneState::secondsForRound() const {
  if (BudgetS <= 0)
    return std::nullopt;
  return RoundBudget{BudgetS, runS()}.forRound(seconds(), isFirstRound(), Prospect);
}

std::optional<double> TuneState::secondsForLongReplays() const {
  if (BudgetS <= 0)
    return std::nullopt;
  return RoundBudget{BudgetS, runS()}.forLongReplays(seconds(), isFirstRound(), Prospect);
}

std::optional<double> TuneState::secondsForReplays() const {
  if (BudgetS <= 0)
    return std::nullopt;
  return RoundBudget{BudgetS, runS()}.forReplays(seconds(), /*First=*/Runs <= 1, PlannedReplayS,
                                                 Prospect);
}
