/// \file
/// The timing run as a stage of a tuning: the job's kernels for InRunSelection, what became of
/// each, and what the selection over whole runs is told of it.
#pragma once

#include "Tune/InRunSelection.h"
#include "Tune/ModeChoice.h"
#include "Tune/Selection.h"
#include "Tune/TimingRun.h"

namespace carve {

/// How each kernel of a job was timed inside the program. Vectors are by kernel of the job.
struct InRunTuning {
  std::vector<ModeChoice> Choices;
  std::vector<InRunOutcome> Outcomes; ///< Undecided where whole runs decide.
  TimingRunResult Run;
};

/// What \p Run found of the kernels of \p Job, which were timed as \p Choices say. A kernel of
/// TimingMode::Fixed is undecided with the choice's reason.
InRunTuning judgeTimingRun(const TuningJob &Job, std::vector<ModeChoice> Choices,
                           TimingRunResult Run);

/// Tells \p Subjects, one per kernel, what they need not find out any more.
void applyInRun(const InRunTuning &InRun, std::vector<SubjectSpace> &Subjects);

/// How \p Kernel was decided: `replay`, `rotate`, `verify-rotate`; `fixed` where whole runs had to.
std::string modeOf(const InRunTuning &InRun, size_t Kernel);
/// Why it was decided so.
std::string modeReasonOf(const InRunTuning &InRun, size_t Kernel);

} // namespace carve
