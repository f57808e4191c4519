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
///
/// Each pair compares a run with all candidates with a run of the untouched program, in alternating
/// order. Every second default run has the control copies in place. Pairs are added while some
/// subject is undecided (PairedTimes.h): three at least, and the clearer the gains the fewer. A
/// subject wins if its median is at most WinningRatio and the upper end of its interval is below
/// the bound 1 - max(LeastMargin, twice the control's distance).
///
/// Subjects that are undecided win, too, if the sum is confirmed: the program as a whole is surely
/// faster, its ratio agrees with what the timing runs predict for all candidates together, and the
/// subjects' own times support the predicted ratios. So winners with a good prediction are not
/// confirmed one by one.
///
/// If a subject loses, the others are confirmed again without it, because it may have changed their
/// times. If the program's own GPU time has a median above 1, or its wall time and the span of its
/// kernels are measurably above 1 (0.5 % each), all subjects keep their defaults.
///
/// With a budget, a confirmation starts if there is time for one pair, or for one run of candidates
/// that this may confirm. If there is after a pair no time for two runs, the second pair shares the
/// default's run of the first, so that three runs decide. If there is no time for the third run
/// either, the default's earlier runs count in the place of more pairs (LoneLook), for subjects
/// whose output a timing run has compared. If there is time for a single run from the beginning, it
/// is one of these candidates with large gains, and is compared with the traced run
/// (GainForOneRun), and so is a second one if there is time for it then. These runs have no control
/// copies, so the control's distance counts as 0. Of wall time and span a single pair only tells
/// that they have grown by a tenth. Where the time is up and a run of the default was slow by
/// chance, subjects win whose runs are apart all the same (areApart()).
///
/// Subjects that are undecided keep their default with BudgetReason. If candidates were dropped and
/// there is no time to confirm the others again, those win that a timing run has nominated and
/// whose own times in the last pairs, two at least, prove the gain. If the candidates of a pair
/// were right without those that had caused a fault, that pair begins the next confirmation.
llvm::Error confirmCandidates(SelectionRuns &Runs);

} // namespace carve
