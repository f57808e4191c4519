/// \file
/// The timing runs as a stage of a tuning. It gives the job's kernels to InRunSelection, joins the
/// outcomes of several runs, and tells the selection over whole runs what is already decided.
#pragma once

#include "Tune/InRun/InRunSelection.h"
#include "Tune/InRun/ModeChoice.h"
#include "Tune/InRun/TimingRun.h"
#include "Tune/Selection/Selection.h"

namespace carve {

/// How each kernel of a job was timed inside the program, in one run or in several. The vectors
/// have one element per kernel of the job.
struct InRunTuning {
  std::vector<ModeChoice> Choices;
  std::vector<InRunOutcome> Outcomes; ///< Undecided if whole runs decide.
  TimingRunResult Run;                ///< For several runs, their sum.
};

/// The state before any timing run: no kernel of \p Job is timed.
InRunTuning untimed(const TuningJob &Job);

/// Adds the results of a further run, \p Next, to \p All. A kernel that took no part in that run
/// keeps its outcome. An earlier nominee remains if the new run has none and has not rejected it. A
/// kernel stays only if every run said so.
void addTimingRun(InRunTuning &All, InRunTuning Next, const JobBuild &Built);

/// The variants of kernel number \p Kernel that the final whole runs need: the nominee; all
/// variants that are not rejected, if whole runs decide; none if the kernel stays.
std::vector<size_t> variantsLeft(const InRunTuning &All, size_t Kernel, const JobBuild &Built);

/// The nominee of kernel number \p Kernel, or else its fastest variant that is not rejected.
/// Returns 0 if no variant was faster than the default.
size_t bestSoFar(const InRunTuning &All, size_t Kernel);

/// Judges the kernels of \p Job with the variants of \p Built by \p Run, in which they were timed
/// as \p Choices say. What \p Earlier says, the verdicts of earlier runs, need not be compared
/// again. A kernel with TimingMode::Fixed is undecided for the choice's reason.
InRunTuning judgeTimingRun(const TuningJob &Job, const JobBuild &Built,
                           std::vector<ModeChoice> Choices, TimingRunResult Run,
                           llvm::ArrayRef<VerifiedVariant> Earlier = {});

/// Whether the output of the nominee of \p Outcome was compared with the default's in launches with
/// nearly all of the kernel's time, so that it counts as compared (SubjectSpace::Compared).
bool isCompared(const InRunOutcome &Outcome);

/// The least gain that the measured interval of the nominee of \p Outcome allows, as a share of the
/// kernel's time: 1 - Ratio.High. It is 0 if nothing is nominated, or if the interval reaches 1.
double sureGain(const InRunOutcome &Outcome);

/// The part of sureGain() that one pair of runs is expected to confirm (LoneLook): all of a nominee
/// that was compared, if it surely gains LeastForOnePair, and nothing of another one.
double gainOfOnePair(const InRunOutcome &Outcome);

/// Sets in \p Subjects, one per kernel, what the timing runs decided about the variants of \p
/// Built: nominees with their ratios and with what makes them suspect, kernels that stay, and
/// rejected variants.
void applyInRun(const InRunTuning &InRun, const JobBuild &Built,
                std::vector<SubjectSpace> &Subjects);

/// How kernel number \p Kernel was decided: `replay`, `rotate`, `verify-rotate`, or `fixed` if
/// whole runs had to decide.
std::string modeOf(const InRunTuning &InRun, size_t Kernel);
/// Why kernel number \p Kernel was decided in that way, for the report.
std::string modeReasonOf(const InRunTuning &InRun, size_t Kernel);

} // namespace carve
