/// \file
/// Remembers what a tuning has already examined, so that an unchanged program is not run again,
/// whatever the result was. CompilePipeline asks it before it tunes.
#pragma once

#include "Store/UnitStore.h"
#include "Tune/Job/TuningJob.h"

#include <string>

namespace carve {

/// Returns true if every kernel of \p U existed when \p Workload was last tuned with the scope and
/// domain of \p Options and at least the same effort. A change elsewhere in the file does not
/// matter; a new or changed kernel does.
bool alreadyAttempted(const Unit &U, llvm::StringRef Workload, const TuningOptions &Options,
                      const UnitStore &Store);

/// Remembers that \p U was examined. \p Note says why it was not tuned, or is empty. If the store
/// cannot be written, that is only logged.
void rememberAttempt(const Unit &U, llvm::StringRef Workload, const TuningOptions &Options,
                     llvm::StringRef Note, UnitStore &Store);

} // namespace carve
