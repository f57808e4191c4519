/// \file
/// A stage of a tuning after the timing runs: whole runs screen the kernels that are undecided, and
/// confirm the winners.
#pragma once

#include "Tune/TuneState.h"

namespace carve {

/// Screens the undecided kernels of \p Job with their variants in \p Built by whole runs, and
/// confirms all candidates. \p InRun is the result of the timing runs, or null if there were none.
/// Fails if tuning cannot go on (see RunFunction), or if samples cannot be recorded.
llvm::Expected<SelectionOutcome> selectByRuns(TuneState &State, const TuningJob &Job,
                                              const JobBuild &Built, const InRunTuning *InRun);

/// Screens and confirms the variants of \p Subjects by whole runs. \p RunsBefore runs were made by
/// other selections and count towards the limit. With \p DefaultInPlace, they are not compared with
/// the untouched program, but with the images of variant 0 of all subjects. Fails as
/// selectByRuns().
llvm::Expected<SelectionOutcome> selectAmong(TuneState &State, const TuningJob &Job,
                                             const JobBuild &Built, TuningScope Scope,
                                             const std::vector<SubjectSpace> &Subjects,
                                             unsigned RunsBefore, bool DefaultInPlace);

} // namespace carve
