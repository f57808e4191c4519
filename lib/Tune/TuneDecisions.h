/// \file
/// The last stage of a tuning before the report: writes the decisions into the store and the user's
/// profile. The next build emits them.
#pragma once

#include "Tune/TuneState.h"

namespace carve {

/// Writes the decisions \p Decided, by module of \p Job, into \p Store and the user's profile. Sets
/// \p InForce to the decisions that are then in force for each unit, by unit key. Fails if the
/// profile cannot be read or written. Decisions that the store cannot take are logged.
llvm::Error rememberDecisions(const TuneRequest &Request, const TuningJob &Job,
                              const JobBuild &Built, llvm::ArrayRef<DecidedUnit> Decided,
                              const Circumstances &When, UnitStore &Store,
                              std::map<std::string, Profile> &InForce);

} // namespace carve
