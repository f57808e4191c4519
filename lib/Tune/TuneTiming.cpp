// A timing run chooses the modes, writes the plan, makes the run and judges its records.

#include "Tune/TuneTiming.h"

#include "Support/Error.h"
#include "Support/Log.h"
#include "Tune/InRun/ProbePlan.h"
#include "Tune/InRun/RoundBudget.h"
#include "Tune/InRun/SharedTiming.h"
#include "Tune/InRun/TimedShapes.h"
#include "Tune/TuneGpus.h"
#include "Tune/WholeRuns/JobImages.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <atomic>

using namespace carve;

namespace {

/// With PointSet::All, hundreds of variants are timed as a reference for a search. That needs more
/// time.
constexpr double ExhaustiveReplayS = 400;

/// The most variants of a kernel in one round, and how many there are if time is no limit.
constexpr size_t MostTimable = 400, RecordedTimable = 24;

/// So much of the time for replays is planned with: comparing much memory takes longer than the
/// plan assumes, and a replay that does not end in time tells nothing.
constexpr double PlannedShare = 0.7;

/// The part of a run by which replays may take longer than planned if kernels would otherwise be
/// rotated, which may need one more run.
constexpr double RatherThanARun = 0.1;

/// The part of a run for which the first round awaits PTX of other front ends when its time to
/// compile is over. They promise more than most other settings, and would need a run of their own
/// later. What later rounds may await is patienceS(): more would take the confirmation's time.
constexpr double FlavourPatience = 0.4;

double replaySeconds(const TuneState &State) {
  if (State.Request.Options.Points == PointSet::All)
    return std::min(ExhaustiveReplayS, State.secondsLeft().value_or(ExhaustiveReplayS) / 2);
  // Recorded runs take no time now, so the program's length does not limit them.
  if (State.recorded())
    return MostReplayS;
  if (std::optional<double> Replays = State.secondsForReplays())
    return std::min(MostReplayS, *Replays);
  return std::clamp(PlainRunsWorth * State.runS(), LeastReplayS, MostReplayS);
}

/// The same for kernels that could otherwise be timed only by whole runs (ModeLimits::LongReplayS).
double longReplaySeconds(const TuneState &State) {
  if (State.recorded() || State.Request.Options.Points == PointSet::All)
    return replaySeconds(State);
  return std::min(MostReplayS, State.secondsForLongReplays().value_or(MostReplayS));
}

/// The seconds for all replays of one process: at least what the replays in \p Choices take.
double replaySeconds(const TuneState &State, llvm::ArrayRef<ModeChoice> Choices) {
  std::vector<double> Sums(State.gpuCount(), 0);
  for (size_t K = 0; K < Choices.size(); ++K)
    Sums[State.gpuOf(K)] += Choices[K].ReplayS;
  return std::max(replaySeconds(State), *llvm::max_element(Sums));
}

/// How many variants of a kernel are timed by whole runs: as many as half of the time that is left
/// has runs, and 2 at least.
size_t timableByRuns(const TuneState &State) {
  std::optional<double> Left = State.secondsLeft();
  if (!Left || State.PlainWallS <= 0)
    return MostByRuns;
  return std::clamp<size_t>(size_t(*Left / State.runS() / 2), 2, MostByRuns);
}

/// Why the request allows no run after the trace and \p Timing timing runs, or nothing if it does.
std::optional<std::string> whyNoRun(const TuneState &State, unsigned Timing) {
  const SelectionLimits &Limits = State.Request.Limits;
  // A run that is repeated without the variants at fault must leave time to confirm a gain, and the
  // first run of a round to confirm what it may find.
  if (auto Why = State.whyNoTime(/*BeginsRound=*/Timing == 0))
    return Why;
  if (State.Runs + Timing >= Limits.MaxRuns)
    return "the limit of " + std::to_string(Limits.MaxRuns) + " runs is reached";
  return std::nullopt;
}

class TimingStage {
public:
  TimingStage(TuneState &State, const TuningJob &Job, const JobBuild &Built,
              std::vector<ModeChoice> Choices)
      : State(State), Job(Job), Built(Built), ReplayS(replaySeconds(State, Choices)),
        Choices(std::move(Choices)) {}

  llvm::Expected<InRunTuning> make(llvm::ArrayRef<VerifiedVariant> Earlier);

private:
  std::string plan(const PlanExclusions &Excluded, size_t Gpu) const;
  llvm::Expected<TimingRunResult> timeRecorded();
  llvm::Expected<TimingRunResult> timeOn(size_t Gpu, const ImageMap &Images);
  llvm::Expected<std::vector<TimingRunResult>> time();
  void noteRun(const TimingRunResult &Run);

  TuneState &State;
  const TuningJob &Job;
  const JobBuild &Built;
  double ReplayS;
  std::vector<ModeChoice> Choices;
  std::atomic<int> Interrupted = 0; ///< The signal that has ended a run; 0 if none has.
};

/// The plan for the kernels that place \p Gpu of TuneState::Several times; empty if there are none.
std::string TimingStage::plan(const PlanExclusions &Excluded, size_t Gpu) const {
  std::vector<ModeChoice> Left = Choices;
  bool Any = false;
  for (size_t K = 0; K < Left.size(); ++K) {
    if (Excluded.Kernels.count(Job.Kernels[K].Traced.Kernel) ||
        Built.Kernels[K].timedTogether() <= 2 || State.gpuOf(K) != Gpu)
      Left[K].Mode = TimingMode::Fixed;
    Any |= Left[K].Mode != TimingMode::Fixed;
  }
  if (!Any)
    return "";
  PlanLimits Limits;
  Limits.Seed = State.Request.Limits.Seed;
  Limits.ReplayMs = std::max<uint64_t>(1, uint64_t(ReplayS * 1000)); // 0 would mean no limit.
  return printPlan(Job, Built, Left, Excluded.Faults, Limits);
}

llvm::Expected<TimingRunResult> TimingStage::timeRecorded() {
  TimingRunLimits Limits;
  Limits.WhyNoMore = [&](unsigned Runs) { return whyNoRun(State, Runs); };
  size_t Number = State.TimingRuns++;
  auto Run = [&](const std::string &) -> llvm::Expected<RunRecord> {
    llvm::Expected<InRunRecord> Record =
        State.Samples.timing(Number, Job, Built, State.Request.SamplesPath);
    if (!Record)
      return Record.takeError();
    RunRecord Made;
    Made.Probe.InRun = std::move(*Record);
    return Made;
  };
  return timeInRun([&](const PlanExclusions &Excluded) { return plan(Excluded, 0); }, Run,
                   /*Check=*/nullptr, *State.Request.Progress, Limits);
}

/// Times the kernels of place \p Gpu there, perhaps in several runs. After a signal has ended the
/// run of another GPU, no other run is begun.
llvm::Expected<TimingRunResult> TimingStage::timeOn(size_t Gpu, const ImageMap &Images) {
  auto Run = [&](const std::string &Text) -> llvm::Expected<RunRecord> {
    if (int Signal = Interrupted)
      return interrupted(Signal);
    State.Progress.runs(State.Runs, 0, State.seconds());
    llvm::Expected<RunRecord> Made = runTiming(State, Text, ReplayS, Images, Gpu);
    if (Made && Made->Interrupted)
      Interrupted = Made->Interrupted;
    return Made;
  };
  TimingRunLimits Limits;
  Limits.WhyNoMore = [&](unsigned Runs) { return whyNoRun(State, Runs); };
  // Where no kernel is rotated, all results that the program uses are the default's. Rotated
  // variants are compared by their output, which often differs in printed times alone.
  // selectByRuns() asks for the difference before it lets a variant win.
  Limits.OutputWaits = true;
  return timeInRun([&](const PlanExclusions &Excluded) { return plan(Excluded, Gpu); }, Run,
                   &State.Check, State.Progress, Limits);
}

/// Makes a run on each GPU, all at once. Returns one result for each.
llvm::Expected<std::vector<TimingRunResult>> TimingStage::time() {
  llvm::Expected<TempDir> Dir = TempDir::create("carve-images");
  if (!Dir)
    return Dir.takeError();
  llvm::Expected<ImageMap> Images =
      placeImages(Job, Built, TuningScope::Kernel, Assignment(Job.Kernels.size(), 0), Dir->path());
  if (!Images)
    return Images.takeError();
  std::vector<std::optional<llvm::Expected<TimingRunResult>>> Made(State.gpuCount());
  runOnEach(Made.size(), [&](size_t Gpu) { Made[Gpu].emplace(timeOn(Gpu, *Images)); });
  std::vector<TimingRunResult> Parts;
  llvm::Error Failed = llvm::Error::success();
  for (std::optional<llvm::Expected<TimingRunResult>> &Part : Made)
    if (*Part)
      Parts.push_back(std::move(**Part));
    else if (!Failed)
      Failed = Part->takeError(); // An interruption reaches all runs, and is told once.
    else
      llvm::consumeError(Part->takeError());
  if (Failed)
    return Failed;
  for (const TimingRunResult &Part : Parts)
    State.Runs += Part.Runs;
  return Parts;
}

/// Tells the state how long \p Run took without its replays, if its records say that: several
/// processes replay at once.
void TimingStage::noteRun(const TimingRunResult &Run) {
  if (Run.WallS <= 0 || Run.Failure || Run.Processes != 1)
    return;
  double ReplaysNs = 0;
  for (const ReplayedLaunch &L : Run.Record.Replays)
    ReplaysNs += double(L.WholeNs);
  State.noteRun(Run.WallS, ReplaysNs / 1e9);
}

llvm::Expected<InRunTuning> TimingStage::make(llvm::ArrayRef<VerifiedVariant> Earlier) {
  for (size_t K = 0; K < Choices.size(); ++K)
    if (Built.Kernels[K].timedTogether() > 2)
      logLine(Job.Kernels[K].Traced.Kernel + ": " + nameOf(Choices[K].Mode) + ": " +
              Choices[K].Reason);
  std::vector<TimingRunResult> Parts;
  if (State.recorded()) {
    llvm::Expected<TimingRunResult> Run = timeRecorded();
    if (!Run)
      return Run.takeError();
    for (size_t K = 0; K < Choices.size(); ++K)
      if (std::vector<TimedShape> Timed = shapesTimedIn(Run->Record, Job.Kernels[K].Traced);
          !Timed.empty())
        Choices[K].Shapes = std::move(Timed);
    Parts.push_back(std::move(*Run));
  } else {
    llvm::Expected<std::vector<TimingRunResult>> Runs = time();
    if (!Runs)
      return Runs.takeError();
    Parts = std::move(*Runs);
    for (const TimingRunResult &Part : Parts)
      noteRun(Part);
  }
  for (const TimingRunResult &Part : Parts)
    if (Part.Failure)
      logLine("the timing run does not count: " + *Part.Failure);
  InRunTuning Timed =
      judgeTimingRuns(Job, Built, std::move(Choices), std::move(Parts), State.GpuOf, Earlier);
  if (!State.Request.RecordPath.empty() && !Timed.Run.Failure)
    State.Samples.addTiming(Timed.Run.Record);
  return Timed;
}

} // namespace

llvm::Expected<RunRecord> carve::runTiming(TuneState &State, const std::string &Plan,
                                           double ReplayS, const ImageMap &Images, size_t Gpu) {
  WorkloadSpec Spec = State.workload(Gpu);
  Spec.TimeoutS += ReplayS;
  ProbeSetup Probe = State.Request.Probe;
  Probe.Plan = Plan;
  return runWorkload(Spec, Probe, Images, State.Runner, /*Stretch=*/{}, State.gpus(Gpu));
}

std::vector<ModeChoice> carve::chooseTiming(const TuneState &State, const TuningJob &Job,
                                            const JobBuild &Built, const ProbeRecord &Trace) {
  ModeLimits Limits;
  Limits.Request = State.Request.Mode;
  Limits.ReplayS = replaySeconds(State);
  Limits.LongReplayS = longReplaySeconds(State);
  Limits.WholeRunS = State.runS();
  Limits.BeyondS = RatherThanARun * State.runS();
  return chooseModes(Job, Built, Trace, Limits, State.GpuOf, State.Replays);
}

RoundLimits carve::limitsOfRound(TuneState &State, const TuningJob &Job, const JobBuild &Built,
                                 const ProbeRecord &Trace) {
  RoundLimits Round;
  State.PlannedReplayS = 0; // What the last round was planned with does not count.
  State.PlannedReplayS = replaySeconds(State);
  double LongReplayS = longReplaySeconds(State);
  if (std::optional<double> Seconds = State.secondsForRound())
    Round.CompileS = RoundCompileShare * *Seconds;
  if (State.isFirstRound())
    Round.PatienceS = FlavourPatience * State.runS();
  std::vector<double> Sums(State.gpuCount(), 0);
  for (size_t K = 0; K < Job.Kernels.size(); ++K)
    Sums[State.gpuOf(K)] += Job.Kernels[K].Traced.Share;
  ModeLimits Limits;
  Limits.Request = State.Request.Mode;
  Limits.WholeRunS = State.runS();
  for (auto [Number, K, Made] : llvm::enumerate(Job.Kernels, Built.Kernels)) {
    double Part = PlannedShare * K.Traced.Share / Sums[State.gpuOf(Number)];
    Limits.ReplayS = Part * State.PlannedReplayS;
    Limits.LongReplayS = Part * LongReplayS;
    ModeQuestion Question{K.Traced, K.Hazards, 0, Trace, Job.DeviceHeap, State.Replays[Number]};
    Round.Uncompared.push_back(!mayCompareOutputs(Question, Limits));
    size_t Timable =
        timableVariants(Question, Limits, State.recorded() ? RecordedTimable : MostTimable);
    // Filling a round uses time that it would otherwise waste. Recorded runs have no time limit.
    Round.Filled.push_back(Timable > 0 && !State.recorded());
    bool New = Made.Variants.size() <= FirstPlace;
    Round.Timable.push_back(Timable || !New ? Timable : timableByRuns(State));
  }
  return Round;
}

std::optional<std::string> carve::whyNoTimingRun(const TuneState &State) {
  if (!State.recorded())
    return whyNoRun(State, 0);
  if (State.TimingRuns < State.Samples.timingRuns())
    return std::nullopt;
  return "the recorded samples have no further timing run";
}

llvm::Expected<InRunTuning> carve::timeInside(TuneState &State, const TuningJob &Job,
                                              const JobBuild &Built,
                                              std::vector<ModeChoice> Choices,
                                              llvm::ArrayRef<VerifiedVariant> Earlier) {
  return TimingStage(State, Job, Built, std::move(Choices)).make(Earlier);
}
