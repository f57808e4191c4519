/// \file
/// The state that the stages of a tuning (TunePipeline.h) share. Each stage makes runs of the
/// program, or uses recorded samples instead.
#pragma once

#include "Cubin/Cubin.h"
#include "Tune/InRun/InRunTuning.h"
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

  /// Whether recorded samples are used instead of the program.
  bool recorded() const { return !Request.SamplesPath.empty(); }
  /// Seconds since the tuning began.
  double seconds() const;
  /// Seconds of the budget that are left, at least 0; nothing without a budget.
  std::optional<double> secondsLeft() const;
  /// The GPUs to lock and watch; null with recorded samples.
  TimedGpus *gpus() { return Gpus ? &*Gpus : nullptr; }
  /// Whether variants are timed inside the program.
  bool timesInside() const {
    return Request.Mode != ModeRequest::Fixed && Request.Options.Scope == TuningScope::Kernel;
  }
};

} // namespace carve
