#include "Tune/TuneState.h"

#include "Support/Clock.h"

#include "llvm/ADT/StringExtras.h"

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

std::optional<double> TuneState::secondsLeft() const {
  if (Request.Limits.BudgetS <= 0)
    return std::nullopt;
  return std::max(0.0, Request.Limits.BudgetS - seconds());
}
