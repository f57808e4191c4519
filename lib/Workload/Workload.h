/// \file
/// The command that exercises the kernels: run under the probe, once for tracing and once per
/// assignment of variants, with what it printed and wrote.
#pragma once

#include "Support/CommandRunner.h"
#include "Workload/ProbeRecords.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace carve {

struct WorkloadSpec {
  std::vector<std::string> Argv;
  std::string Dir; ///< Empty: the caller's.
  double TimeoutS = 600;
  std::vector<std::string> OutputFiles; ///< Files whose content is part of the result.
  std::string StdinPath = "/dev/null";  ///< Read anew by every run.
  std::vector<std::string> Environment; ///< `NAME=value`, set for the program in addition.
};

/// What the user sees of one run, compared between variants.
struct ProgramOutput {
  int ExitStatus = 0;
  std::string Stdout;
  std::map<std::string, std::string> FileDigests; ///< Of WorkloadSpec::OutputFiles; `-` if absent.
};

struct RunRecord {
  ProbeRecord Probe;
  ProgramOutput Output;
  std::string Stderr;
  bool TimedOut = false;
  int Interrupted = 0; ///< The signal that asked us to stop.
  double WallS = 0;

  bool succeeded() const { return Output.ExitStatus == 0 && !TimedOut; }
};

/// How the probe is reached.
struct ProbeSetup {
  std::string Library;   ///< libcarve_probe.so
  std::string Cupti;     ///< libcupti.so beside nvcc; empty: the probe looks for itself.
  std::string Plan = {}; ///< Text of a plan for a run that times variants; empty: none.
  /// Names of the variables with counters in the images, to be read when the program ends.
  std::vector<std::string> Counters = {};
  std::string Metrics = {}; ///< Text of what hardware counters are wanted; empty: none.
};

/// libcupti of the toolkit whose bin directory is \p BinDir, or nothing.
std::optional<std::string> findCupti(llvm::StringRef BinDir);

/// Images by the digest of the container that they replace, as paths.
using ImageMap = std::map<std::string, std::string>;

class TimedGpus;

/// Runs the workload under the probe with \p Images in place (none: trace), every launch held back
/// by \p LaunchDelayNs. Holds the locks of \p Gpus meanwhile, so that two tunings do not time each
/// other; null: none. What it leaves running where it took too long or was interrupted is ended.
/// Fails where the program cannot be started or the probe's records cannot be read; a failing
/// program is a result.
llvm::Expected<RunRecord> runWorkload(const WorkloadSpec &Spec, const ProbeSetup &Probe,
                                      const ImageMap &Images, CommandRunner &Runner,
                                      uint64_t LaunchDelayNs = 0, TimedGpus *Gpus = nullptr);

/// The delay per launch that makes a program like \p Run take visibly longer, by half or by 0.3 s,
/// whichever is more: what its output says of time then changes.
uint64_t revealingDelayNs(const RunRecord &Run);

/// Which lines of a program's output mean something: those that were the same in every run of the
/// default so far. Where a line has moved between two of them, as those of several ranks do, all
/// lines are compared without their places: each as often as every run of the default had it.
class OutputReference {
public:
  /// Takes another run of the default into account.
  void addDefault(const ProgramOutput &Output);
  /// Nothing where \p Output is that of the default; else what differs, for a person.
  std::optional<std::string> difference(const ProgramOutput &Output) const;
  /// Lines of the default's output that differ between its own runs.
  /// All of them where even their number does.
  size_t unstableLines() const;
  /// Whether even the number of lines differs between runs of the default: then only exit status
  /// and files are compared.
  bool stdoutUnstable() const { return Unstable; }
  /// Whether lines are compared without their places.
  bool unordered() const { return Unordered && !Unstable; }

private:
  std::optional<std::string> lineDifference(const std::vector<std::string> &New) const;

  bool Seen = false, Unstable = false, Unordered = false;
  ProgramOutput First;
  std::vector<std::string> Lines;
  std::vector<bool> Masked;             ///< By place: lines that have differed.
  std::map<std::string, size_t> Common; ///< Lines, as often as every run had them.
  std::map<std::string, bool> FileMasked;
};

} // namespace carve
