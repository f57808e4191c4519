/// \file
/// A stage of a tuning after the timing runs: whole runs screen the kernels that are undecided, and
/// confirm the winners.
#pragma once

#include "Tune/TuneState.h"

namespace carve {

/// Whether whole runs have time to try one variant of each undecided kernel, beside the default and
/// its copy, and to confirm it. Without a budget they have.
bool wholeRunsHaveTime(const TuneState &State);

/// Whether \p Kernel is timed after the rounds, which had the outcomes \p Outcomes, by kernel. A
/// nominee is confirmed. Without one the kernel needs whole runs: where another kernel is
/// confirmed, they need time beside that (wholeRunsHaveTime()), and otherwise time for one of them.
/// The variants of a kernel that is not timed further need not be assembled once more.
bool isTimedFurther(const TuneState &State, llvm::ArrayRef<InRunOutcome> Outcomes, size_t Kernel);

/// Screens the undecided kernels of \p Job with their variants in \p Built by whole runs, and
/// confirms all candidates. \p InRun is the result of the timing runs, or null if there were none.
/// Fails if tuning cannot go on (see RunFunction), or if samples cannot be recorded.
llvm::Expected<SelectionOutcome> selectByRuns(TuneState &State, const TuningJob &Job,
                                              const JobBuild &Built, const InRunTuning *InRun);

} // namespace carve
