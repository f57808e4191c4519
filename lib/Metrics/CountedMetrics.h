/// \file
/// `carve metrics --count`: the same metrics, with how often loops run taken from one run of the
/// program in which its kernels count. Traces and finds the units as a tuning does.
#pragma once

#include "Metrics/MetricsPipeline.h"
#include "Tune/TunePipeline.h"

namespace carve {

/// The run that \p Options ask for, as a tuning is asked for it; what depends on the installation
/// is left to be filled in.
TuneRequest countRequest(const MetricsOptions &Options);

/// Runs the program of \p Request once as it is, to learn which kernels matter, and once with
/// counters in these. Each kernel's counts are means over all threads of its launches, and its
/// metrics those of the PTX in the launch shape that takes most of the time. Kernels that cannot be
/// counted are in MetricsReport::Left, doubts about the run in MetricsReport::Warnings. Fails with
/// UsageError where an annotation is of a kernel that was not counted, and with Unsupported where
/// the program cannot be traced or its counters are not all there.
llvm::Expected<MetricsReport> countMetrics(const MetricsOptions &Options,
                                           const TuneRequest &Request, UnitStore &Store,
                                           const Toolchain &T, CommandRunner &Runner);

struct TuneState;
struct JobContext;

/// The same of a program whose trace is \p Trace, for who has to know something of every kernel:
/// one that cannot be counted has the metrics of its code with assumed trips
/// (KernelMetrics::CountedThreads is 0 then), and MetricsReport::Left says why. A failing counted
/// run is among the warnings. Fails where no job can be made of the trace, and when interrupted.
llvm::Expected<MetricsReport> countOrAssume(const MetricsOptions &Options, TuneState &State,
                                            const ProbeRecord &Trace, const JobContext &Context);

} // namespace carve
