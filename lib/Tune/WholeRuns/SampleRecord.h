/// \file
/// Records the runs of a tuning for `--record`: the trace, the timing runs, and the times of the
/// whole runs. With `--samples` the record takes the place of the program, so that a tuning can be
/// made again on a machine without a GPU.
#pragma once

#include "Support/Files.h"
#include "Tune/Job/JobBuild.h"
#include "Tune/Selection/Selection.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace carve {

/// The recorded runs of one job: the trace, the timing runs, and samples of every variant.
class SampleRecord {
public:
  /// Keeps the record of the traced run.
  void setTrace(const ProbeRecord &Record) { Trace = {printProbeRecord(Record), {}}; }
  /// Keeps the record of the next timing run, with the faults of the runs before it.
  void addTiming(const InRunRecord &Record) { Timings.push_back({printInRun(Record), {}}); }
  /// Adds the GPU time of \p Subject with \p Variant in one whole run.
  void add(const std::string &Subject, const std::string &Variant, double Ns) {
    Samples[Subject][Variant].push_back(Ns);
  }
  /// Adds the GPU time of all other kernels in one whole run, and the run's wall time.
  void addProgram(double OtherNs, double WallS) {
    Other.push_back(OtherNs);
    Wall.push_back(WallS);
  }
  /// The text of a samples file.
  std::string print() const;
  /// Reads the text of a samples file. An error names \p Name, the line and what was expected
  /// there.
  static llvm::Expected<SampleRecord> parse(llvm::StringRef Text, llvm::StringRef Name);
  /// Reads the samples file \p Path.
  static llvm::Expected<SampleRecord> read(const std::string &Path);

  /// The record of the traced run. An error names \p Name and the line.
  llvm::Expected<ProbeRecord> trace(llvm::StringRef Name) const;
  size_t timingRuns() const { return Timings.size(); }
  /// The record of timing run number \p Run, without variants that are not in the modules of
  /// \p Built now. An error names \p Name and the line.
  llvm::Expected<InRunRecord> timing(size_t Run, const TuningJob &Job, const JobBuild &Built,
                                     llvm::StringRef Name) const;
  /// Whether there is a sample of \p Subject with \p Variant.
  bool has(const std::string &Subject, const std::string &Variant) const;
  /// Makes a run of \p A from the samples. Each variant's samples are used in turn, from the first
  /// again after the last. Fails with the name of a variant that has no samples.
  llvm::Expected<RunSample> run(const std::vector<SubjectSpace> &Subjects,
                                const std::vector<std::vector<std::string>> &VariantNames,
                                const Assignment &A);

private:
  /// A probe's record as text, and the lines of the samples file that its lines come from; none if
  /// it comes from no file.
  struct Recorded {
    std::string Text;
    std::vector<unsigned> Lines;

    void take(llvm::StringRef Line, unsigned Number);
    llvm::Error inFile(llvm::Error E, llvm::StringRef Name) const;
  };

  Recorded Trace;
  std::vector<Recorded> Timings; ///< By timing run.
  std::map<std::string, std::map<std::string, std::vector<double>>> Samples;
  std::map<std::pair<std::string, std::string>, size_t> Next;
  std::vector<double> Other, Wall;
  size_t NextProgram = 0;
};

} // namespace carve
