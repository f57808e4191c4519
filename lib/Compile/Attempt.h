/// \file
/// What a tuning has already looked at, so that an unchanged program is not run again, whatever
/// became of it.
#pragma once

#include "Store/UnitStore.h"
#include "Tune/Job/TuningJob.h"

#include <string>

namespace carve {

/// Whether every kernel of \p U was there when \p Workload was last tuned with the scope and domain
/// of \p Options and no less effort. A change elsewhere in the file keeps that; a new or changed
/// kernel does not.
bool alreadyAttempted(const Unit &U, llvm::StringRef Workload, const TuningOptions &Options,
                      const UnitStore &Store);

/// Remembers that \p U was looked at. \p Note says why nothing came of it, or is empty.
void rememberAttempt(const Unit &U, llvm::StringRef Workload, const TuningOptions &Options,
                     llvm::StringRef Note, UnitStore &Store);

} // namespace carve
