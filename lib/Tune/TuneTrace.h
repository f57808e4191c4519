/// \file
/// The first stage of a tuning: makes a run of the program and traces it.
#pragma once

#include "Tune/TuneState.h"

namespace carve {

/// Why nothing can be tuned from \p Run, which had \p TimeoutS seconds, or nothing if tuning can go
/// on.
std::optional<std::string> whyUntraceable(const RunRecord &Run, double TimeoutS);

/// Runs the untouched program and traces it, or reads the recorded trace. If only whole runs time
/// the variants, the program runs once more with its time stretched, to find the lines of its
/// output that depend on time. With `--gpus` the first run is made on all chosen GPUs at once.
/// Fails with an Untraceable error if nothing can be tuned from the run.
llvm::Expected<ProbeRecord> traceProgram(TuneState &State);

} // namespace carve
