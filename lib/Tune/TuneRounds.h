/// \file
/// A stage of a tuning after the job is made: makes variants and times them inside the program, in
/// rounds, until no search proposes more.
#pragma once

#include "Tune/TuneState.h"

namespace carve {

/// Makes the variants of \p Job with \p Rounds, which puts them into \p Built, and times them
/// inside the program, round by round, until no search proposes more or there is no time for
/// another run. The modules then have the variants that are left for whole runs. Returns nothing if
/// no variant is timed inside the program. Fails if a timing run fails (see timeInside()).
llvm::Expected<std::optional<InRunTuning>> timeRounds(TuneState &State, const TuningJob &Job,
                                                      const JobBuild &Built, VariantRounds &Rounds,
                                                      const ProbeRecord &Trace);

} // namespace carve
