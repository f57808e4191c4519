/// \file
/// The confirmation of a selection: pairs of runs, all candidates together against all defaults, by
/// which the winners are chosen.
#pragma once

#include "Tune/Selection/SelectionRuns.h"

#include "llvm/Support/Error.h"

namespace carve {

/// Confirms the candidates and chooses those that win.
llvm::Error confirmCandidates(SelectionRuns &Runs);

} // namespace carve
