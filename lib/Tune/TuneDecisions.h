/// \file
/// The last stage of a tuning before the report: writes the decisions into the store and the user's
/// profile. The next build emits them. `carve fleet merge` writes agreed decisions in the same way.
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

/// Merges \p New into the decisions that \p Store has on the unit \p Key, which may be for other
/// architectures and kernels. Returns the decisions that are then in force. Decisions that the
/// store cannot take are logged.
Profile rememberUnit(UnitStore &Store, const std::string &Key, const Profile &New);

/// Merges \p Tuned into the profile \p Path, or creates it. If nothing changes, the file is not
/// written. Fails if it cannot be read or written.
llvm::Error adoptIntoProfile(const std::string &Path, const Profile &Tuned);

} // namespace carve
