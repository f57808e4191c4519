/// \file
/// `carve explain -- COMMAND` without its output: traces the program, counts its kernels' code,
/// has the hardware count and modified kernels timed where that is possible, and judges what limits
/// each (Explain/Limiters.h), beside what the last tuning tried.
#pragma once

#include "Explain/HardwareCounters.h"
#include "Explain/LimitsReport.h"
#include "Metrics/MetricsPipeline.h"
#include "Tune/Job/JobParts.h"
#include "Tune/TuneState.h"

#include <functional>

namespace carve {

/// The command as the user gave it.
struct ExplainOptions {
  std::string Kernel; ///< A part of its name, mangled or demangled; empty: all that matter.
  std::string ReportFile = "latest";
  bool Json = false;
  bool Quiet = false;                    ///< The text without notes; JSON keeps them.
  bool Counters = true, Modified = true; ///< Off: not even tried.
  double TimeoutS = 600;
  std::string StdinPath = "/dev/null";
  std::vector<std::string> Command; ///< Empty: from the last report alone.
};

/// Reads the words after `explain`. Fails with UsageError naming the actual and the expected.
llvm::Expected<ExplainOptions> parseExplainOptions(llvm::ArrayRef<std::string> Args);

/// Whether \p Mangled is asked for by \p Name, a part of its name.
bool isAskedFor(llvm::StringRef Name, llvm::StringRef Mangled);

/// The run that \p Options ask for, as a tuning is asked for it; what depends on the installation
/// is left to be filled in.
TuneRequest explainRequest(const ExplainOptions &Options);

/// Who measures what the trace and the code do not tell. By mangled names.
struct LimitSources {
  std::function<llvm::Expected<CountedKernels>(TuneState &, const std::vector<TracedKernel> &)>
      Counters;
  std::function<llvm::Expected<std::map<std::string, ModifiedTimes>>(
      TuneState &, const ProbeRecord &, const JobContext &, const std::vector<std::string> &)>
      Modified;
};

/// Explains the kernels of \p Request 's program. \p Tuned: the last tuning's report; null: none.
/// Of it counts what has the kernel's mangled name, the device's name and the kernel's registers.
/// What a source cannot tell is left out with its reason, which is in the report. Fails with
/// UsageError where the program has no kernel of that name, with Unsupported where it launched none
/// at all or cannot be traced, and when interrupted.
llvm::Expected<LimitsReport> explainLimits(const ExplainOptions &Options,
                                           const TuneRequest &Request, const TuningReport *Tuned,
                                           const LimitSources &Sources, UnitStore &Store,
                                           const Toolchain &T, CommandRunner &Runner);

} // namespace carve
