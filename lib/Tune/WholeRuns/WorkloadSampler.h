/// \file
/// Makes the runs that the selection asks for by placing images under the workload.
#pragma once

#include "Tune/WholeRuns/SampleRecord.h"
#include "Workload/OutputCheck.h"

#include <string>
#include <vector>

namespace carve {

/// What the selection numbers: the job's kernels, or its modules with TuningScope::File.
std::vector<SubjectSpace> subjectsOf(const TuningJob &Job, TuningScope Scope);

/// Names of a job's variants by subject: `default`, `control`, `r40-f255`.
std::vector<std::vector<std::string>> variantNames(const TuningJob &Job, TuningScope Scope);

/// Runs the workload with a job's variants in place.
class WorkloadSampler {
public:
  /// \p ImagesDir is a directory for the images of the current run.
  WorkloadSampler(const TuningJob &Job, TuningScope Scope, const WorkloadSpec &Spec,
                  const ProbeSetup &Probe, CommandRunner &Runner, OutputCheck &Check,
                  std::string ImagesDir);

  /// One run with \p A in place; empty: the program untouched. Fails where tuning cannot go on:
  /// interrupted, or the untouched program itself fails.
  llvm::Expected<RunSample> run(const Assignment &A);
  /// Where to note every sample; null: nowhere.
  void recordInto(SampleRecord *Record) { Recording = Record; }
  /// The GPUs whose locks every run holds; null: none.
  void timeOn(TimedGpus *Timed) { Gpus = Timed; }

private:
  /// Why a run does not count, or nothing. Fails where we were interrupted.
  llvm::Expected<std::optional<std::string>> faultOf(const RunRecord &Run, const Assignment &A);
  void note(const Assignment &A, const RunSample &Sample);

  const TuningJob &Job;
  TuningScope Scope;
  const WorkloadSpec &Spec;
  const ProbeSetup &Probe;
  CommandRunner &Runner;
  OutputCheck &Check;
  std::string ImagesDir;
  SampleRecord *Recording = nullptr;
  TimedGpus *Gpus = nullptr;
  std::vector<SubjectSpace> Subjects;
  std::vector<std::vector<std::string>> Names;
};

} // namespace carve
