/// \file
/// The stages of a tuning (TunePipeline.h) in their order, and what they share. Each makes runs of
/// the program, or takes recorded samples in their place.
#pragma once

#include "Cubin/Cubin.h"
#include "Tune/InRun/InRunTuning.h"
#include "Tune/TunePipeline.h"
#include "Tune/Variants/VariantRounds.h"
#include "Tune/WholeRuns/SampleRecord.h"
#include "Workload/OutputCheck.h"

#include <chrono>

namespace carve {

/// What one stage of a tuning leaves for the next.
struct TuneState {
  TuneState(const TuneRequest &Request, CommandRunner &Runner);
  TuneState(const TuneState &) = delete; ///< Check refers to it.

  const TuneRequest &Request;
  CommandRunner &Runner;
  std::chrono::steady_clock::time_point Start;
  std::optional<TimedGpus> Gpus; ///< Absent with recorded samples.
  OutputCheck Check;
  SampleRecord Samples;  ///< Read, or to be recorded.
  size_t TimingRuns = 0; ///< Taken from recorded samples so far.
  unsigned Runs = 0;     ///< Of the trace and the timing.
  double PlainWallS = 0; ///< Of the traced run.

  bool recorded() const { return !Request.SamplesPath.empty(); }
  double seconds() const;
  /// Seconds of the budget that are left; nothing without one.
  std::optional<double> secondsLeft() const;
  TimedGpus *gpus() { return Gpus ? &*Gpus : nullptr; }
  /// Whether variants are timed inside the program.
  bool timesInside() const {
    return Request.Mode != ModeRequest::Fixed && Request.Options.Scope == TuningScope::Kernel;
  }
};

/// Runs the program as it is and traces it; where whole runs alone time, once more, held back at
/// every launch, to see which lines of the output depend on time. Fails with `untraceable` where
/// nothing can be tuned from it.
llvm::Expected<ProbeRecord> traceProgram(TuneState &State);

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
llvm::Expected<RunRecord> runTiming(TuneState &State, const TuningJob &Job, const std::string &Plan,
                                    double ReplayS, const ImageMap &Images);

/// Makes a timing run of \p Job as its modules are assembled now, each kernel timed as \p Choices
/// say.
llvm::Expected<InRunTuning> timeInside(TuneState &State, const TuningJob &Job,
                                       std::vector<ModeChoice> Choices);

/// Makes the variants of \p Job and times them inside the program, round by round, until no search
/// wants any more. What is left for whole runs is in the modules then. Nothing where no variant is
/// timed inside the program.
llvm::Expected<std::optional<InRunTuning>>
timeRounds(TuneState &State, TuningJob &Job, VariantRounds &Rounds, const ProbeRecord &Trace);

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

/// What was found of a module of the job at other register-usage levels.
struct LeveledUnit {
  std::optional<unsigned> Level; ///< That won; absent: the command's stays.
  Cubin Image;                   ///< At that level, with the kernels' chosen variants.
  UnitReport Report;
  bool Tried = false;
};

/// Times the images of whole units at other register-usage levels, their kernels as \p Outcome
/// chose them, by whole runs. By module of the job; nothing below the largest effort.
llvm::Expected<std::vector<LeveledUnit>> tuneLevels(TuneState &State, const TuningJob &Job,
                                                    const VariantRounds &Rounds,
                                                    SelectionOutcome &Outcome);

/// Puts the levels that won into the report.
void reportLevels(llvm::ArrayRef<LeveledUnit> Units, const TuningJob &Job, TuningReport &Report);
/// Puts that of \p Unit, module \p Module of the job, into its decisions.
void decideLevel(const LeveledUnit &Unit, const TuningJob &Job, size_t Module, Profile &Decided);

/// Writes the decisions into the store and the user's profile. \p Levels: by module, or empty.
llvm::Error rememberDecisions(const TuneRequest &Request, const TuningJob &Job,
                              const SelectionOutcome &Outcome, llvm::ArrayRef<LeveledUnit> Levels,
                              UnitStore &Store, TuneResult &Result);

} // namespace carve
