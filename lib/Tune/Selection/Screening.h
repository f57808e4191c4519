/// \file
/// The screening of a selection: rounds of runs that drop what is slower, and name a candidate for
/// each subject.
#pragma once

#include "Tune/Selection/SelectionRuns.h"

#include "llvm/Support/Error.h"

namespace carve {

/// Runs rounds and names a candidate for every subject that takes part, or why there is none.
llvm::Error screenVariants(SelectionRuns &Runs);

} // namespace carve
