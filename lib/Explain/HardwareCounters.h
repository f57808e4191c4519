/// \file
/// Reads hardware counters of a program's kernels for `carve explain`. Runs the program under the
/// probe, which lets CUPTI's range profiler count at chosen launches, if the system permits that.
#pragma once

#include "Tune/TunePipeline.h"
#include "Workload/KernelCounters.h"
#include "Workload/OutputCheck.h"

#include <map>
#include <string>
#include <vector>

namespace carve {

/// What the hardware counted.
struct CountedKernels {
  /// By mangled name, each in its heaviest launch shape.
  std::map<std::string, KernelCounters> Kernels;
  std::string Refused; ///< Tells the user why no kernel was counted. Empty if some were.
  unsigned Runs = 0;   ///< The number of runs of the program.
};

/// Runs the program of \p Request up to four times under the probe, each time with other metrics,
/// and counts the first launches of each kernel of \p Kernels in its heaviest launch shape. A run
/// does not count if its output differs from the untouched program's. \p Check knows that output;
/// if \p Check is null, one more run learns it. Holds the locks of \p Gpus during the runs; null
/// means no locks. A kernel that cannot be counted is absent from the result, and if no kernel was
/// counted, CountedKernels::Refused says why. Fails if the program cannot be started, and with
/// Interrupted if a signal ends it.
llvm::Expected<CountedKernels> countHardware(const TuneRequest &Request,
                                             const std::vector<TracedKernel> &Kernels,
                                             CommandRunner &Runner, TimedGpus *Gpus,
                                             OutputCheck *Check = nullptr);

} // namespace carve
