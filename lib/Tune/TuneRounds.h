/// \file
/// The rounds of a tuning: variants are made and timed inside the program, until no search wants
/// more.
#pragma once

#include "Tune/TuneState.h"

namespace carve {

/// Makes the variants of \p Job and times them inside the program, round by round, until no search
/// wants any more. What is left for whole runs is in the modules then. Nothing where no variant is
/// timed inside the program.
llvm::Expected<std::optional<InRunTuning>>
timeRounds(TuneState &State, TuningJob &Job, VariantRounds &Rounds, const ProbeRecord &Trace);

} // namespace carve
