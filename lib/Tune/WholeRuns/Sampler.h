/// \file
/// Makes the runs that the selection asks for: on the GPU, by placing images under the workload;
/// or from recorded samples, through the same code, where there is no GPU.
#pragma once

#include "Support/Files.h"
#include "Tune/Job/TuningJob.h"
#include "Tune/Selection/Selection.h"
#include "Workload/OutputCheck.h"

#include <deque>
#include <map>
#include <string>

namespace carve {

/// What the selection numbers: the job's kernels, or its modules with TuningScope::File.
std::vector<SubjectSpace> subjectsOf(const TuningJob &Job, TuningScope Scope);

/// Recorded runs of one job: the trace, the timing runs, and samples of every variant.
class SampleRecord {
public:
  /// Keeps what is needed of the traced run: device and launches.
  void setTrace(const ProbeRecord &Record) { Trace = printProbeRecord(Record); }
  /// Keeps what the next timing run of \p Job found, with the faults of runs before it.
  void addTiming(const InRunRecord &Record, const TuningJob &Job);
  void add(const std::string &Subject, const std::string &Variant, double Ns) {
    Samples[Subject][Variant].push_back(Ns);
  }
  void addProgram(double OtherNs, double WallS) {
    Other.push_back(OtherNs);
    Wall.push_back(WallS);
  }
  /// Text of a samples file, and back. Fails naming \p Name, the line and what was expected there.
  std::string print() const;
  static llvm::Expected<SampleRecord> parse(llvm::StringRef Text, llvm::StringRef Name);
  /// The file \p Path.
  static llvm::Expected<SampleRecord> read(const std::string &Path);

  /// The traced run.
  llvm::Expected<ProbeRecord> trace(llvm::StringRef Name) const;
  size_t timingRuns() const { return Timings.size(); }
  /// What timing run \p Run found of the variants of \p Job, which are known by their names: those
  /// that are not in the modules now are left out. Samples without names number them as the job
  /// does.
  llvm::Expected<InRunRecord> timing(size_t Run, const TuningJob &Job, llvm::StringRef Name) const;
  /// Whether there is a sample of it.
  bool has(const std::string &Subject, const std::string &Variant) const;
  /// Runs by looking samples up, each variant's in turn. Fails naming a variant that has none.
  llvm::Expected<RunSample> run(const std::vector<SubjectSpace> &Subjects,
                                const std::vector<std::vector<std::string>> &VariantNames,
                                const Assignment &A);

private:
  /// One timing run: its record, and by kernel the names of its variants.
  struct Timing {
    std::string Record;
    std::map<std::string, std::vector<std::string>> Variants;
  };

  std::string Trace;
  std::vector<Timing> Timings;
  std::map<std::string, std::map<std::string, std::vector<double>>> Samples;
  std::map<std::pair<std::string, std::string>, size_t> Next;
  std::vector<double> Other, Wall;
  size_t NextProgram = 0;
};

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
