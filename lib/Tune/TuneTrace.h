/// \file
/// The first stage of a tuning: a run of the program that is traced.
#pragma once

#include "Tune/TuneState.h"

namespace carve {

/// Runs the program as it is and traces it; where whole runs alone time, once more, held back at
/// every launch, to see which lines of the output depend on time. Fails with `untraceable` where
/// nothing can be tuned from it.
llvm::Expected<ProbeRecord> traceProgram(TuneState &State);

} // namespace carve
