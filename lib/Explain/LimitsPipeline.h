/// \file
/// Runs `carve explain -- COMMAND`, except for its output: traces the program, counts its kernels'
/// code, reads hardware counters and times modified kernels if that is possible, and decides what
/// limits each kernel (Limiters.h). The result also has what the last tuning tried.
#pragma once

#include "Explain/HardwareCounters.h"
#include "Explain/LimitsReport.h"
#include "Metrics/MetricsPipeline.h"
#include "Tune/Job/JobParts.h"
#include "Tune/TuneState.h"

#include <functional>

namespace carve {

/// The command line as the user gave it.
struct ExplainOptions {
  /// A part of a mangled or demangled name; empty for all kernels with enough GPU time.
  std::string Kernel;
  std::string ReportFile = "latest";
  bool Json = false;
  bool Quiet = false;                    ///< Leaves the notes out of the text; JSON keeps them.
  bool Counters = true, Modified = true; ///< False: this source is not even tried.
  double TimeoutS = 600;
  std::string StdinPath = "/dev/null";
  std::vector<std::string> Command; ///< The program; empty to explain the last report only.
};

/// Reads the words after `explain`. Fails with UsageError, which names the actual and the expected.
llvm::Expected<ExplainOptions> parseExplainOptions(llvm::ArrayRef<std::string> Args);

/// True if \p Name is a part of the kernel's name, either of \p Mangled or of its demangled form.
bool isAskedFor(llvm::StringRef Name, llvm::StringRef Mangled);

/// Returns the run that \p Options ask for in the form of a tuning's request. The caller fills in
/// what depends on the installation.
TuneRequest explainRequest(const ExplainOptions &Options);

/// The functions that measure what the trace and the code do not tell. Their results are by mangled
/// name.
struct LimitSources {
  std::function<llvm::Expected<CountedKernels>(TuneState &, const std::vector<TracedKernel> &)>
      Counters;
  std::function<llvm::Expected<std::map<std::string, ModifiedTimes>>(
      TuneState &, const ProbeRecord &, const JobContext &, const std::vector<std::string> &)>
      Modified;
};

/// Explains the kernels of \p Request 's program. \p Tuned is the last tuning's report, or null. A
/// kernel of that report is used if its mangled name, the device's name and the kernel's registers
/// are those of this run. What a source in \p Sources cannot tell is left out, and the result says
/// why. Fails with UsageError if the program launched no kernel of the wanted name, with
/// Unsupported if it launched no kernel at all or cannot be traced, and with Interrupted if a
/// signal ends it.
llvm::Expected<LimitsReport> explainLimits(const ExplainOptions &Options,
                                           const TuneRequest &Request, const TuningReport *Tuned,
                                           const LimitSources &Sources, UnitStore &Store,
                                           const Toolchain &T, CommandRunner &Runner);

} // namespace carve
