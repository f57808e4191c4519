/// \file
/// The timing run of a tuning: variants timed inside one run of the program.
#pragma once

#include "Tune/TuneState.h"

namespace carve {

/// How each kernel of \p Job is timed with the variants that are marked (JobVariant::InModule).
std::vector<ModeChoice> chooseTiming(const TuneState &State, const TuningJob &Job,
                                     const ProbeRecord &Trace);

/// Why there may be no timing run now (no budget left, no recorded one), or nothing.
std::optional<std::string> whyNoTimingRun(const TuneState &State);

/// Seconds for all replays of a process, where no budget says less: as long as PlainRunsWorth runs
/// of the program. Where replaying would take much longer, some whole runs tell as much in less
/// time: a kernel of seconds that is launched once has as little noise in them.
constexpr double LeastReplayS = 4, MostReplayS = 60, PlainRunsWorth = 4;

/// One run of the program with \p Images in place, in which the probe replays and rotates as \p
/// Plan says for at most \p ReplayS seconds a process.
llvm::Expected<RunRecord> runTiming(TuneState &State, const std::string &Plan, double ReplayS,
                                    const ImageMap &Images);

/// Makes a timing run of \p Job as its modules are assembled now, each kernel timed as \p Choices
/// say.
llvm::Expected<InRunTuning> timeInside(TuneState &State, const TuningJob &Job,
                                       std::vector<ModeChoice> Choices);

} // namespace carve
