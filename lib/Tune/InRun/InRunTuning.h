/// \file
/// The timing runs as a stage of a tuning: the job's kernels for InRunSelection, what became of
/// each in one run and over several, and what the selection over whole runs is told of it.
#pragma once

#include "Tune/InRun/InRunSelection.h"
#include "Tune/InRun/ModeChoice.h"
#include "Tune/InRun/TimingRun.h"
#include "Tune/Selection/Selection.h"

namespace carve {

/// How each kernel of a job was timed inside the program, in one run or in several. Vectors are by
/// kernel of the job.
struct InRunTuning {
  std::vector<ModeChoice> Choices;
  std::vector<InRunOutcome> Outcomes; ///< Undecided where whole runs decide.
  TimingRunResult Run;                ///< Of several runs what they add up to.
};

/// No kernel of \p Job timed yet.
InRunTuning untimed(const TuningJob &Job);

/// Adds to \p All what a further run found. A kernel that took no part in it keeps what is known of
/// it. A nominee of before stands where the new run has none and has not rejected it; a kernel
/// stays only where every run said so.
void addTimingRun(InRunTuning &All, InRunTuning Next, const TuningJob &Job);

/// The variants of kernel \p Kernel that the final whole runs need: the nominee; where whole runs
/// decide, all that nothing speaks against.
std::vector<size_t> variantsLeft(const InRunTuning &All, size_t Kernel, const TuningJob &Job);

/// The fastest variant of \p Kernel so far that left the default's output; 0 where none was faster
/// than the default.
size_t bestSoFar(const InRunTuning &All, size_t Kernel);

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
