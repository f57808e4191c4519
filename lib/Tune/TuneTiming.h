/// \file
/// One timing run of a tuning, from top to bottom: chooses modes (InRun/ModeChoice), writes the
/// plan (InRun/ProbePlan), makes the run (InRun/TimingRun) or takes a recorded one, and judges its
/// records (InRun/InRunTuning). With several GPUs each makes a run at the same time, with the
/// kernels that are its own (InRun/SharedTiming). The stage TuneRounds makes one in each round.
#pragma once

#include "Tune/TuneState.h"

namespace carve {

/// Chooses how each kernel of \p Job is timed with its marked variants in \p Built
/// (JobVariant::InModule).
std::vector<ModeChoice> chooseTiming(const TuneState &State, const TuningJob &Job,
                                     const JobBuild &Built, const ProbeRecord &Trace);

/// What the next round of variants of \p Job may take: its time is shared out by the kernels'
/// shares of GPU time among those of the same GPU. A kernel that only whole runs can time gets few
/// variants, and those at once. Sets TuneState::PlannedReplayS.
RoundLimits limitsOfRound(TuneState &State, const TuningJob &Job, const JobBuild &Built,
                          const ProbeRecord &Trace);

/// Why no timing run can be made now, or nothing if one can. The budget or the limit on runs may be
/// reached, or the recorded samples may have no further one.
std::optional<std::string> whyNoTimingRun(const TuneState &State);

/// The seconds for all replays of one process if there is no budget: as long as PlainRunsWorth runs
/// of the program, but between the other two limits. If replaying took much longer, a few whole
/// runs would tell as much in less time: the time of a kernel that runs for seconds and is launched
/// once has as little noise in whole runs.
constexpr double LeastReplayS = 4, MostReplayS = 60, PlainRunsWorth = 4;

/// The most variants of a kernel that only whole runs can time.
constexpr size_t MostByRuns = 12;

/// Makes one run of the program with \p Images in place, in which the probe replays and rotates as
/// \p Plan says, on place \p Gpu of TuneState::Several. The run may take \p ReplayS seconds longer
/// than a plain run. Fails if the program cannot be started.
llvm::Expected<RunRecord> runTiming(TuneState &State, const std::string &Plan, double ReplayS,
                                    const ImageMap &Images, size_t Gpu = 0);

/// Makes a timing run of \p Job with its modules as they are assembled in \p Built now, on each GPU
/// of TuneState::Several at once if there are some, and judges it. Each kernel is timed as its
/// element of \p Choices says, and \p Earlier has the verdicts of earlier runs. Fails if tuning
/// cannot go on: it was interrupted, the program cannot be started, or the samples cannot be read.
llvm::Expected<InRunTuning> timeInside(TuneState &State, const TuningJob &Job,
                                       const JobBuild &Built, std::vector<ModeChoice> Choices,
                                       llvm::ArrayRef<VerifiedVariant> Earlier = {});

} // namespace carve
