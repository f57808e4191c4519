/// \file
/// Runs the command that exercises the kernels under the probe, once to trace it and then with
/// variants in place, and compares what it printed and wrote.
#pragma once

#include "Protocol/TimeStretch.h"
#include "Support/CommandRunner.h"
#include "Workload/ProbeRecords.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace carve {

/// The command to run, and what belongs to its result.
struct WorkloadSpec {
  std::vector<std::string> Argv;
  std::string Dir; ///< The working directory; empty for the caller's.
  double TimeoutS = 600;
  std::vector<std::string> OutputFiles; ///< Files whose content is part of the result.
  std::string StdinPath = "/dev/null";  ///< Every run reads it from its beginning.
  std::vector<std::string> Environment; ///< Additional variables of the program, `NAME=value`.
};

/// What the user sees of one run, compared between variants.
struct ProgramOutput {
  int ExitStatus = 0;
  std::string Stdout;
  std::map<std::string, std::string> FileDigests; ///< By path in OutputFiles; `-` if absent.
};

/// The result of one run.
struct RunRecord {
  ProbeRecord Probe;
  ProgramOutput Output;
  std::string Stderr;
  bool TimedOut = false;
  int Interrupted = 0; ///< The signal that asked us to stop; 0 if there was none.
  double WallS = 0;    ///< Wall time, in seconds.

  /// Whether the program ended in time with exit status 0.
  bool succeeded() const { return Output.ExitStatus == 0 && !TimedOut; }
};

/// Where the probe is, and what it has to do.
struct ProbeSetup {
  std::string Library;   ///< The path of libcarve_probe.so.
  std::string Cupti;     ///< libcupti.so beside nvcc; if empty, the probe searches for it.
  std::string Plan = {}; ///< The text of the plan for a timing run; empty for none.
  /// Names of variables with counters in the images, which the probe reads when the program ends.
  std::vector<std::string> Counters = {};
  std::string Metrics = {}; ///< The text that asks for hardware counters; empty for none.
};

/// The path of libcupti in the toolkit whose bin directory is \p BinDir, or nothing if it has none.
std::optional<std::string> findCupti(llvm::StringRef BinDir);

/// Paths of images, by the digest of the container that they replace.
using ImageMap = std::map<std::string, std::string>;

class TimedGpus;

/// Runs the workload under the probe with \p Images in place, or traces it if there are none. Its
/// time is stretched by \p Stretch. Holds the locks of \p Gpus during the run, so that two tunings
/// do not disturb each other's times; null for no locks. If the run takes too long or is
/// interrupted, all its processes are ended. A program that fails is a result. Fails if the program
/// cannot be started or the probe's records cannot be read.
llvm::Expected<RunRecord> runWorkload(const WorkloadSpec &Spec, const ProbeSetup &Probe,
                                      const ImageMap &Images, CommandRunner &Runner,
                                      const probe::TimeStretch &Stretch = {},
                                      TimedGpus *Gpus = nullptr);

/// The stretch that makes the times of the program of \p Run visibly longer, so that output that
/// depends on time changes. The launches together take a tenth of its time longer, and at least
/// 0.3 s, for programs that are over at once. The waits take up to two fifths of all that; by
/// the shares of the time (probe::LeastShare) they take less.
probe::TimeStretch revealingStretch(const RunRecord &Run);

/// Knows which parts of a program's output are comparable: the lines that were the same in every
/// run of the default so far. If a line has moved between two of these runs, as lines of several
/// ranks do, all lines are compared without their order. Each line must then occur as often as in
/// every run of the default.
class OutputReference {
public:
  /// Which times (withoutTimes()) may be others, in lines with the same number.
  enum class OtherTimes {
    None,
    /// Those in lines of a form (formOfTimes()) of which two lines or more had other times in
    /// another run of the default: a program that measures these measures the others as well.
    OfFormsThatChange,
    Any,
  };

  /// Adds the output of another run of the default.
  void addDefault(const ProgramOutput &Output);
  /// What differs between \p Output and the default's output, as text for a person; nothing if they
  /// are the same but for \p Allowed. At least one default must have been added.
  std::optional<std::string> difference(const ProgramOutput &Output,
                                        OtherTimes Allowed = OtherTimes::None) const;
  /// The number of lines that differ between runs of the default. If even the number of lines
  /// differs, it is all lines.
  size_t unstableLines() const;
  /// Whether the number of lines differs between runs of the default. Then only exit status and
  /// files are compared.
  bool stdoutUnstable() const { return Unstable; }
  /// Whether lines are compared without their order.
  bool unordered() const { return Unordered && !Unstable; }

private:
  std::optional<std::string> lineDifference(const std::vector<std::string> &New,
                                            OtherTimes Allowed) const;
  /// Whether the lines \p A and \p B differ only in times that \p Allowed lets differ.
  bool areSameBut(OtherTimes Allowed, const std::string &A, const std::string &B) const;

  bool Seen = false, Unstable = false, Unordered = false;
  ProgramOutput First;
  std::vector<std::string> Lines;
  std::vector<bool> Masked; ///< Lines that have differed, by line number.
  /// By form: the numbers of the lines that have differed in times only.
  std::map<std::string, std::set<size_t>> FormsThatChange;
  std::map<std::string, size_t> Common; ///< How often every run had each line, at least.
  std::map<std::string, bool> FileMasked;
};

} // namespace carve
