/// \file
/// Screens the variants: rounds of runs that drop slow variants and name at most one candidate for
/// each subject. It is the first step of a selection, before the confirmation.
#pragma once

#include "Tune/Selection/SelectionRuns.h"

#include "llvm/Support/Error.h"

namespace carve {

/// Runs the rounds. Sets SubjectOutcome::Candidate of every subject that is screened, or
/// SubjectOutcome::Reason if no variant qualifies. Fails only if a run cannot be made at all (see
/// RunFunction).
llvm::Error screenVariants(SelectionRuns &Runs);

} // namespace carve
