/// \file
/// Makes the metrics of `carve metrics --count`: those of `carve metrics`, with loop trips from one
/// run of the program in which its kernels count. It traces the program and finds its units as a
/// tuning does.
#pragma once

#include "Metrics/MetricsPipeline.h"
#include "Tune/TunePipeline.h"

namespace carve {

/// Returns the request for the run that \p Options ask for, in the form of a tuning's request. The
/// caller fills in what depends on the installation.
TuneRequest countRequest(const MetricsOptions &Options);

/// Runs the program of \p Request once as it is, to learn which kernels matter, and once with
/// counters in these kernels. The counts of a kernel are means over all threads of its launches.
/// Its metrics are those of the PTX in the launch shape that takes most of the time.
/// MetricsReport::Left lists kernels that cannot be counted, and MetricsReport::Warnings has doubts
/// about the run. Fails with UsageError if \p Options name a kernel that was not counted, and with
/// Unsupported if the program cannot be traced or some of its counters are missing.
llvm::Expected<MetricsReport> countMetrics(const MetricsOptions &Options,
                                           const TuneRequest &Request, UnitStore &Store,
                                           const Toolchain &T, CommandRunner &Runner);

struct TuneState;
struct JobContext;

/// Does the same for a program whose trace is \p Trace, for callers that need something about every
/// kernel. A kernel that cannot be counted gets the metrics of its code with assumed trips
/// (KernelMetrics::CountedThreads is 0 then), and MetricsReport::Left says why. If the counted run
/// fails, a warning says so. Fails if no job can be made of the trace, and if interrupted.
llvm::Expected<MetricsReport> countOrAssume(const MetricsOptions &Options, TuneState &State,
                                            const ProbeRecord &Trace, const JobContext &Context);

} // namespace carve
