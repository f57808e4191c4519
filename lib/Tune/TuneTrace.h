/// \file
/// The first stage of a tuning: makes a run of the program and traces it.
#pragma once

#include "Tune/TuneState.h"

namespace carve {

/// Runs the untouched program and traces it, or reads the recorded trace. If only whole runs time
/// the variants, the program runs once more with a delay at every launch, to find the lines of its
/// output that depend on time. Fails with an Untraceable error if nothing can be tuned from the
/// run.
llvm::Expected<ProbeRecord> traceProgram(TuneState &State);

} // namespace carve
