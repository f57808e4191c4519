#include "Tune/TuneState.h"

#include "Support/Clock.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace carve;

TuneState::TuneState(const TuneRequest &Request, CommandRunner &Runner)
    : Request(Request), Runner(Runner), Start(std::chrono::steady_clock::now()),
      Check([this](uint64_t DelayNs) {
        return runWorkload(this->Request.Workload, this->Request.Probe, {}, this->Runner, DelayNs,
                           gpus());
      }) {
  if (!recorded())
    Gpus.emplace(Request.Gpus, llvm::join(Request.Workload.Argv, " "), *Request.Progress);
}

double TuneState::seconds() const { return secondsSince(Start); }

/// The budget of a default tuning: as long as so many plain runs, but at least so many seconds.
static constexpr double BudgetRuns = 8, LeastBudgetS = 20;
/// By effort, the share of it that is used.
static constexpr double EffortShare[MaxEffort + 1] = {0.5, 0.75, 1, 3};
/// Three pairs of runs confirm, if the gain is clear.
static constexpr double ConfirmingRuns = 6;
/// The share of the budget that is kept for what neither times nor confirms: the last module is
/// assembled, and decisions are stored.
static constexpr double MarginShare = 0.1;
/// The least that the first timing run may take beyond a plain run: so many seconds, or this share
/// of a plain run.
static constexpr double FirstRoundS = 1, FirstRoundShare = 0.5;

void TuneState::setBudget() {
  const TuningOptions &Options = Request.Options;
  BudgetS = Request.Limits.BudgetS;
  if (BudgetS <= 0 && !recorded() && Options.Scope == TuningScope::Kernel &&
      Options.Points == PointSet::Critical)
    BudgetS = EffortShare[std::min(Options.Effort, MaxEffort)] *
              std::max(LeastBudgetS, BudgetRuns * PlainWallS);
}

std::optional<double> TuneState::secondsLeft() const {
  if (BudgetS <= 0)
    return std::nullopt;
  return std::max(0.0, BudgetS - seconds());
}

std::optional<double> TuneState::secondsForRound() const {
  std::optional<double> Left = secondsLeft();
  if (!Left)
    return std::nullopt;
  double Kept = MarginShare * BudgetS + (ConfirmingRuns + 1) * PlainWallS;
  double Spare = std::max(0.0, (*Left - Kept) / 2);
  bool First = Runs <= 1;
  return First ? std::max({Spare, FirstRoundS, FirstRoundShare * PlainWallS}) : Spare;
}
