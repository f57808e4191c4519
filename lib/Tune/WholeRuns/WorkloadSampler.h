/// \file
/// Makes the whole runs that the selection asks for: places the images of an assignment, runs the
/// workload under the probe, and checks its output.
#pragma once

#include "Tune/WholeRuns/SampleRecord.h"
#include "Workload/OutputCheck.h"

#include <string>
#include <vector>

namespace carve {

/// The subjects of a selection: the job's kernels, or its modules with TuningScope::File.
std::vector<SubjectSpace> subjectsOf(const TuningJob &Job, const JobBuild &Built,
                                     TuningScope Scope);

/// The names of a job's variants by subject, such as `default`, `control`, `r40-f255`.
std::vector<std::vector<std::string>> variantNames(const JobBuild &Built, TuningScope Scope);

/// Runs the workload with a job's variants in place.
class WorkloadSampler {
public:
  /// \p Subjects are those of subjectsOf(), with what timing runs have found of them. \p ImagesDir
  /// is a directory for the images of the current run. All references must outlive it.
  WorkloadSampler(const TuningJob &Job, const JobBuild &Built, TuningScope Scope,
                  std::vector<SubjectSpace> Subjects, const WorkloadSpec &Spec,
                  const ProbeSetup &Probe, CommandRunner &Runner, OutputCheck &Check,
                  std::string ImagesDir);

  /// Makes one run with the variants of \p A in place, or of the untouched program if \p A is
  /// empty. Fails if tuning cannot go on: it was interrupted, or the untouched program itself
  /// fails.
  llvm::Expected<RunSample> run(const Assignment &A);
  /// Sets the record that gets every sample; null for no record.
  void recordInto(SampleRecord *Record) { Recording = Record; }
  /// Sets the GPUs whose locks every run holds; null for none.
  void timeOn(TimedGpus *Timed) { Gpus = Timed; }

private:
  /// Why a run does not count, or nothing if it does. Fails if the tuning was interrupted.
  llvm::Expected<std::optional<std::string>> faultOf(const RunRecord &Run, const Assignment &A);
  MemoryOfRun memoryOf(const Assignment &A) const;
  void note(const Assignment &A, const RunSample &Sample);

  const TuningJob &Job;
  const JobBuild &Built;
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
