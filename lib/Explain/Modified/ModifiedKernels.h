/// \file
/// Runs the modified-kernel analysis (Micikevicius, "Analysis-driven optimization"): times kernels
/// without their arithmetic and without their memory traffic, beside the kernels themselves, in one
/// run of the program. LimitsPipeline uses the times; none of these versions is ever emitted or
/// chosen.
#pragma once

#include "Explain/Modified/ModifiedTimes.h"
#include "Tune/Job/JobParts.h"
#include "Tune/TuneState.h"

#include <map>
#include <string>
#include <vector>

namespace carve {

/// Times the memory-only and the arithmetic-only version of \p Kernels (mangled names; empty for
/// all hot kernels) in one run of the program of \p State. \p Trace must come from the same program
/// (traceProgram()). Returns by mangled name the times of each kernel in the launch shape that
/// takes most of its time, or the reason why some are missing. If the program's output differs from
/// that of an untouched run, or if the run does not count, no kernel has times. Fails if the run
/// cannot be made.
llvm::Expected<std::map<std::string, ModifiedTimes>>
timeModified(TuneState &State, const ProbeRecord &Trace, const JobContext &Context,
             const std::vector<std::string> &Kernels);

/// Does the same for a caller that only has a trace. The program runs once more, to learn its
/// output.
llvm::Expected<std::map<std::string, ModifiedTimes>>
timeModified(const TuneRequest &Request, const ProbeRecord &Trace, UnitStore &Store,
             const Toolchain &T, CommandRunner &Runner, const std::vector<std::string> &Kernels);

} // namespace carve
