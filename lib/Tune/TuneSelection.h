/// \file
/// The selection of a tuning: whole runs that screen what is undecided, and confirm what gains.
#pragma once

#include "Tune/TuneState.h"

namespace carve {

/// Screens what is undecided by whole runs, and confirms all that gains.
llvm::Expected<SelectionOutcome> selectByRuns(TuneState &State, const TuningJob &Job,
                                              const InRunTuning *InRun);

/// Screens and confirms the variants of \p Subjects by whole runs, behind \p RunsBefore of other
/// selections. \p DefaultInPlace: what they are compared with is no untouched program, but the
/// images of everybody's variant 0.
llvm::Expected<SelectionOutcome> selectAmong(TuneState &State, const TuningJob &Job,
                                             TuningScope Scope,
                                             const std::vector<SubjectSpace> &Subjects,
                                             unsigned RunsBefore, bool DefaultInPlace);

} // namespace carve
