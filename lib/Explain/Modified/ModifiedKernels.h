/// \file
/// Modified-kernel analysis (Micikevicius, "Analysis-driven optimization"): kernels without their
/// arithmetic and without their memory traffic, timed beside themselves in one run of the program.
/// Nothing of it is ever emitted or chosen.
#pragma once

#include "Explain/Modified/ModifiedTimes.h"
#include "Tune/Job/JobParts.h"
#include "Tune/TuneState.h"

#include <map>
#include <string>
#include <vector>

namespace carve {

/// Times the memory-only and the arithmetic-only version of \p Kernels (mangled; empty: all that
/// matter) in one run of the program of \p State, which \p Trace is of (traceProgram()). By mangled
/// name: of each kernel its times in the launch shape that takes most of its time, or the reason
/// why some are missing. Where the program's output is another one than without, or the run does
/// not count, no kernel has times. Fails where the run cannot be made.
llvm::Expected<std::map<std::string, ModifiedTimes>>
timeModified(TuneState &State, const ProbeRecord &Trace, const JobContext &Context,
             const std::vector<std::string> &Kernels);

/// The same for who has a trace alone: the program runs once more, to learn its output.
llvm::Expected<std::map<std::string, ModifiedTimes>>
timeModified(const TuneRequest &Request, const ProbeRecord &Trace, UnitStore &Store,
             const Toolchain &T, CommandRunner &Runner, const std::vector<std::string> &Kernels);

} // namespace carve
