/// \file
/// The state that the stages of a tuning (TunePipeline.h) share. Each stage makes runs of the
/// program, or uses recorded samples instead.
#pragma once

#include "Cubin/Cubin.h"
#include "Tune/InRun/InRunTuning.h"
#include "Tune/InRun/RoundBudget.h"
#include "Tune/TunePipeline.h"
#include "Tune/Variants/VariantRounds.h"
#include "Tune/WholeRuns/SampleRecord.h"
#include "Workload/OutputCheck.h"

#include <chrono>

namespace carve {

/// What one stage of a tuning leaves for the next stages.
struct TuneState {
  TuneState(const TuneRequest &Request, CommandRunner &Runner);
  TuneState(const TuneState &) = delete; ///< Check refers to this object.

  const TuneRequest &Request;
  CommandRunner &Runner;
  std::chrono::steady_clock::time_point Start;
  std::optional<TimedGpus> Gpus; ///< Absent with recorded samples.
  OutputCheck Check;
  SampleRecord Samples;  ///< The samples that were read, or that are being recorded.
  size_t TimingRuns = 0; ///< Timing runs taken from recorded samples so far.
  unsigned Runs = 0;     ///< Runs made for the trace and the timing.
  double PlainWallS = 0; ///< Wall time of the traced run; 0 with recorded samples.
  double BudgetS = 0;    ///< Seconds that the tuning may take; 0 if they are not limited.
  GainProspect Prospect; ///< What the rounds so far have left to gain.
  /// Seconds of replays that the variants of the round were chosen for, before they were compiled;
  /// 0 before the first round.
  double PlannedReplayS = 0;

  /// Whether recorded samples are used instead of the program.
  bool recorded() const { return !Request.SamplesPath.empty(); }
  /// Seconds since the tuning began.
  double seconds() const;
  /// Sets BudgetS from the request, or else from PlainWallS and the effort. Recorded samples, and
  /// sets of variants that a search is compared with, have no limit but the request's.
  void setBudget();
  /// Seconds of the budget that are left, at least 0; nothing without a budget.
  std::optional<double> secondsLeft() const;
  /// Seconds that the next timing run may take beyond a plain run, with compiling for it, after
  /// what the rounds so far have found (RoundBudget::forRound()). It is 0 if nothing is left, and
  /// nothing without a budget. The first timing run always has some.
  std::optional<double> secondsForRound() const;
  /// Seconds that the replays of the next timing run may take (RoundBudget::forReplays()); nothing
  /// without a budget.
  std::optional<double> secondsForReplays() const;
  /// The GPUs to lock and watch; null with recorded samples.
  TimedGpus *gpus() { return Gpus ? &*Gpus : nullptr; }
  /// Whether variants are timed inside the program.
  bool timesInside() const {
    return Request.Mode != ModeRequest::Fixed && Request.Options.Scope == TuningScope::Kernel;
  }
};

} // namespace carve
