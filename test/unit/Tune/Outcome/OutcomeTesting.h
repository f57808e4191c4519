/// \file
/// Helpers for tests of a tuning's outcome: a selection's outcome for sampleJob(), and the
/// decisions and the report that follow from it.
#pragma once

#include "Tune/Outcome/TuningReport.h"

#include "unit/Tune/TuneTesting.h"

namespace carve {

/// `_Z2avPf` won with r32; `init` had nothing to try.
inline SelectionOutcome sampleOutcome() {
  SelectionOutcome O;
  O.Subjects.resize(2);
  SubjectOutcome &Won = O.Subjects[0];
  Won.Chosen = Won.Candidate = 2;
  Won.Screened = {{2, {0.9, 0.91, 0.89}, std::nullopt}, {3, {}, "exit status 1 instead of 0"}};
  Won.Ratio = {0.9, 0.89, 0.92};
  Won.Pairs = 9;
  O.Runs = 30;
  O.Pairs = 9;
  O.Program = {0.93, 0.92, 0.94};
  O.Wall = {0.99, 0.97, 1.01};
  O.Span = {0.98, 0.97, 0.99};
  return O;
}

inline const Circumstances When = {"2026-11-20T12:00:00Z", "./app 4096", "NVIDIA H200", "580.159"};

inline TuningReport reportOf(const TuningJob &Job, const JobBuild &Built, TuningScope Scope,
                             const SelectionOutcome &O, const InRunTuning *InRun = nullptr) {
  return describeTuning(Job, Built, Scope, O, InRun, decideKernels(Job, Built, Scope, O, InRun),
                        When);
}

/// The decisions on the job's first module.
inline Profile decisionsIn(const TuningJob &Job, const JobBuild &Built, TuningScope Scope,
                           const SelectionOutcome &O, const InRunTuning *InRun = nullptr) {
  return decisionsFor(Job, Built, 0, Scope, decideKernels(Job, Built, Scope, O, InRun).front(),
                      When);
}

} // namespace carve
