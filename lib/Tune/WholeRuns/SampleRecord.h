/// \file
/// Recorded runs of a program, in the GPU's place where there is none.
#pragma once

#include "Support/Files.h"
#include "Tune/Job/TuningJob.h"
#include "Tune/Selection/Selection.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace carve {

/// Recorded runs of one job: the trace, the timing runs, and samples of every variant.
class SampleRecord {
public:
  /// Keeps what is needed of the traced run: device and launches.
  void setTrace(const ProbeRecord &Record) { Trace = printProbeRecord(Record); }
  /// Keeps what the next timing run found, with the faults of runs before it.
  void addTiming(const InRunRecord &Record) { Timings.push_back(printInRun(Record)); }
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
  /// What timing run \p Run found of the variants of \p Job; those that are not in the modules now
  /// are left out.
  llvm::Expected<InRunRecord> timing(size_t Run, const TuningJob &Job, llvm::StringRef Name) const;
  /// Whether there is a sample of it.
  bool has(const std::string &Subject, const std::string &Variant) const;
  /// Runs by looking samples up, each variant's in turn. Fails naming a variant that has none.
  llvm::Expected<RunSample> run(const std::vector<SubjectSpace> &Subjects,
                                const std::vector<std::vector<std::string>> &VariantNames,
                                const Assignment &A);

private:
  std::string Trace;
  std::vector<std::string> Timings; ///< Of each timing run, its records.
  std::map<std::string, std::map<std::string, std::vector<double>>> Samples;
  std::map<std::pair<std::string, std::string>, size_t> Next;
  std::vector<double> Other, Wall;
  size_t NextProgram = 0;
};

} // namespace carve
