/// \file
/// The end of a tuning: what was decided goes into the store and the user's profile.
#pragma once

#include "Tune/TuneState.h"

namespace carve {

/// Writes what is \p Decided, by module of \p Job, into the store and the user's profile. \p
/// InForce gets the decisions that are in force for each unit afterwards, by unit key.
llvm::Error rememberDecisions(const TuneRequest &Request, const TuningJob &Job,
                              llvm::ArrayRef<DecidedUnit> Decided, const Circumstances &When,
                              UnitStore &Store, std::map<std::string, Profile> &InForce);

} // namespace carve
