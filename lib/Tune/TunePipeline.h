/// \file
/// A whole tuning: trace the workload, make the job, time its variants inside the program, decide
/// the rest by whole runs, confirm, report, remember. What the stages share is in TuneState.h.
#pragma once

#include "Store/Profile.h"
#include "Tune/InRun/ModeChoice.h"
#include "Tune/Outcome/TuningReport.h"
#include "Workload/TimedGpus.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace carve {

struct TuneRequest {
  WorkloadSpec Workload;
  TuningOptions Options;
  ModeRequest Mode = ModeRequest::Auto; ///< TuningScope::File has whole runs alone.
  SelectionLimits Limits;
  ProbeSetup Probe;
  std::string SamplesPath; ///< Recorded samples in the GPU's place; empty: run the workload.
  std::string RecordPath;  ///< Where to record samples; empty: nowhere.
  std::string ProfilePath; ///< A profile that the decisions are also written to; may be empty.
  GpuPlaces Gpus;
  /// Told of progress: runs done, runs expected, seconds since the start.
  std::function<void(unsigned, unsigned, double)> Progress = [](unsigned, unsigned, double) {};
  /// Told of progress between the runs: what is done, and how much of it.
  std::function<void(llvm::StringRef What, size_t Done, size_t Of)> Step = [](llvm::StringRef,
                                                                              size_t, size_t) {};
  /// Told of a run that is made again, and why.
  std::function<void(llvm::StringRef)> Announce = [](llvm::StringRef) {};
  /// Told for whom a run waits; with nothing when it goes on.
  TimedGpus::WaitingFunction Waiting = [](llvm::StringRef) {};
};

struct TuneResult {
  TuningReport Report;
  std::map<std::string, Profile> Decisions; ///< By unit key.
};

/// Tunes. What became of it is always in the report: a workload that fails, times out or launches
/// no kernel is a note there, and no decision. Decisions and report go into \p Store and the
/// profile. Fails where the request cannot be carried out: no such command, unreadable samples, an
/// unwritable profile, interrupted.
llvm::Expected<TuneResult> tune(const TuneRequest &Request, UnitStore &Store, const Toolchain &T,
                                CommandRunner &Runner);

} // namespace carve
