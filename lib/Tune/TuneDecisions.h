/// \file
/// The end of a tuning: what was decided goes into the store and the user's profile.
#pragma once

#include "Tune/TuneLevels.h"
#include "Tune/TuneState.h"

namespace carve {

/// Writes the decisions into the store and the user's profile. \p Levels: by module, or empty.
llvm::Error rememberDecisions(const TuneRequest &Request, const TuningJob &Job,
                              const SelectionOutcome &Outcome, llvm::ArrayRef<LeveledUnit> Levels,
                              UnitStore &Store, TuneResult &Result);

} // namespace carve
