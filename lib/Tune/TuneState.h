/// \file
/// What the stages of a tuning (TunePipeline.h) share. Each makes runs of the program, or takes
/// recorded samples in their place.
#pragma once

#include "Cubin/Cubin.h"
#include "Tune/InRun/InRunTuning.h"
#include "Tune/TunePipeline.h"
#include "Tune/Variants/VariantRounds.h"
#include "Tune/WholeRuns/SampleRecord.h"
#include "Workload/OutputCheck.h"

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
  size_t TimingRuns = 0; ///< Taken from recorded samples so far.
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

} // namespace carve
