/// \file
/// Confirms the candidates that screening or a timing run named, and chooses the winners. It is the
/// second step of a selection: each pair of runs compares all candidates together with all
/// defaults.
#pragma once

#include "Tune/Selection/SelectionRuns.h"

#include "llvm/Support/Error.h"

namespace carve {

/// Confirms the candidates in \p Runs.Outcome and sets SubjectOutcome::Chosen of those that win.
/// The other subjects get a reason. Fails only if a run cannot be made at all (see RunFunction).
llvm::Error confirmCandidates(SelectionRuns &Runs);

} // namespace carve
