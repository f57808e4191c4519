/// \file
/// A whole tuning: it traces the workload, makes the job, times its variants inside the program,
/// decides the rest by whole runs, confirms the winners, stores the decisions and reports them. The
/// stages share TuneState (TuneState.h).
#pragma once

#include "Store/Profile.h"
#include "Support/ProgressDisplay.h"
#include "Tune/InRun/ModeChoice.h"
#include "Tune/Outcome/TuningReport.h"
#include "Workload/ChosenGpus.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace carve {

/// What a tuning is asked to do, and to whom it reports progress.
struct TuneRequest {
  WorkloadSpec Workload;
  /// The captures that the workload launches, for its record; empty if it is a program.
  std::vector<std::string> Captures;
  TuningOptions Options;
  ModeRequest Mode =
      ModeRequest::Auto; ///< Not used with TuningScope::File, which only has whole runs.
  SelectionLimits Limits;
  ProbeSetup Probe;
  std::string SamplesPath; ///< Recorded samples to use; empty to run the workload on a GPU.
  std::string RecordPath;  ///< The file to record samples in; empty for none.
  std::string ProfilePath; ///< A profile that also gets the decisions; empty for none.
  /// Whether the new decision on a kernel goes into the store and the profile; the second argument
  /// is null if there is no earlier one. If it is absent, every decision does, and the report goes
  /// into the store.
  std::function<bool(const KernelReport &, const EarlierDecision *)> Keeps = {};
  GpuPlaces Gpus;
  GpuRequest OnGpus;                             ///< The GPUs on which runs are made at once.
  ProgressDisplay *Progress = &silentProgress(); ///< Never null.
};

/// The result of a tuning.
struct TuneResult {
  TuningReport Report;
  std::map<std::string, Profile> Decisions; ///< By unit key.
  /// What was decided before on kernels of the report, by mangled name.
  std::map<std::string, EarlierDecision> Earlier;
};

/// Tunes the workload of \p Request. The decisions go into \p Store and the profile, and the report
/// into \p Store, as far as TuneRequest::Keeps says; with decisions, \p Store also gets the
/// workload (TunedWorkload.h). If the workload fails, times out or launches no kernel, this is a
/// note in the report, and nothing is decided. Fails if the request cannot be carried out: there is
/// no such command, the samples cannot be read, the profile cannot be written, or the tuning was
/// interrupted.
llvm::Expected<TuneResult> tune(const TuneRequest &Request, UnitStore &Store, const Toolchain &T,
                                CommandRunner &Runner);

} // namespace carve
