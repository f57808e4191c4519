/// \file
/// Hardware counters of a program's kernels: runs it under the probe, which lets CUPTI's range
/// profiler count at chosen launches, where the system permits that.
#pragma once

#include "Tune/TunePipeline.h"
#include "Workload/KernelCounters.h"
#include "Workload/OutputCheck.h"

#include <map>
#include <string>
#include <vector>

namespace carve {

struct CountedKernels {
  std::map<std::string, KernelCounters> Kernels; ///< By mangled name, in the heaviest shape.
  std::string Refused;                           ///< Why there are none, for a person; or empty.
  unsigned Runs = 0;                             ///< Of the program.
};

/// Runs the program of \p Request up to four times under the probe, each time with other metrics,
/// and counts the first launches of each kernel of \p Kernels in its heaviest launch shape. A run
/// whose output is not the untouched program's does not count: \p Check knows that one, and null
/// makes one run more to learn it. What cannot be counted is a result: it stays absent, and
/// CountedKernels::Refused says why where nothing was counted. Holds the locks of \p Gpus
/// meanwhile; null: none. Fails where the program cannot be started, and with Unsupported where we
/// were interrupted.
llvm::Expected<CountedKernels> countHardware(const TuneRequest &Request,
                                             const std::vector<TracedKernel> &Kernels,
                                             CommandRunner &Runner, TimedGpus *Gpus,
                                             OutputCheck *Check = nullptr);

} // namespace carve
