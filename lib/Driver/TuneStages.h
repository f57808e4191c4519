/// \file
/// The stages of a tuning (TunePipeline.h) in their order, and what they share. Each makes runs of
/// the program, or takes recorded samples in their place.
#pragma once

#include "Driver/TunePipeline.h"
#include "Tune/InRunTuning.h"
#include "Tune/OutputCheck.h"

#include <chrono>

namespace carve {

/// What one stage of a tuning leaves for the next.
struct TuneState {
  TuneState(const TuneRequest &Request, CommandRunner &Runner);
  TuneState(const TuneState &) = delete; ///< Check refers to it.

  const TuneRequest &Request;
  CommandRunner &Runner;
  std::chrono::steady_clock::time_point Start;
  std::optional<TimedGpus> Gpus; ///< Absent with recorded samples.
  OutputCheck Check;
  SampleRecord Samples;  ///< Read, or to be recorded.
  unsigned Runs = 0;     ///< Of the trace and the timing.
  double PlainWallS = 0; ///< Of the traced run.

  bool recorded() const { return !Request.SamplesPath.empty(); }
  double seconds() const;
  /// Seconds of the budget that are left; nothing without one.
  std::optional<double> secondsLeft() const;
  TimedGpus *gpus() { return Gpus ? &*Gpus : nullptr; }
  /// Whether variants are timed inside the program.
  bool timesInside() const {
    return Request.Mode != ModeRequest::Fixed && Request.Options.Scope == TuningScope::Kernel;
  }
};

/// Runs the program as it is and traces it; where whole runs alone time, once more, held back at
/// every launch, to see which lines of the output depend on time. Fails with `untraceable` where
/// nothing can be tuned from it.
llvm::Expected<ProbeRecord> traceProgram(TuneState &State);

/// Makes the timing run of \p Job. Nothing where all kernels are left to whole runs without it, or
/// the request has no room for it.
llvm::Expected<std::optional<InRunTuning>> timeInside(TuneState &State, const TuningJob &Job,
                                                      const ProbeRecord &Trace);

/// Screens what is undecided by whole runs, and confirms all that gains.
llvm::Expected<SelectionOutcome> selectByRuns(TuneState &State, const TuningJob &Job,
                                              const InRunTuning *InRun);

/// Writes the decisions into the store and the user's profile.
llvm::Error rememberDecisions(const TuneRequest &Request, const TuningJob &Job,
                              const SelectionOutcome &Outcome, UnitStore &Store,
                              TuneResult &Result);

} // namespace carve
