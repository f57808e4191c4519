#include "Explain/Modified/ModifiedKernels.h"

#include "Explain/Modified/ModifiedVariants.h"
#include "Support/Error.h"
#include "Support/Log.h"
#include "Tune/InRun/ProbePlan.h"
#include "Tune/InRun/TimedShapes.h"
#include "Tune/TuneTiming.h"
#include "Tune/TuneTrace.h"
#include "Tune/WholeRuns/JobImages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace carve;

namespace {

using TimesByKernel = std::map<std::string, ModifiedTimes>;

/// The steps of one analysis: prepare the job, make the versions, run the program, read the times.
class ModifiedPipeline {
public:
  ModifiedPipeline(TuneState &State, const ProbeRecord &Trace, const JobContext &Context,
                   const std::vector<std::string> &Kernels)
      : State(State), Trace(Trace), Context(Context), Wanted(Kernels.begin(), Kernels.end()),
        ReplayS(std::clamp(PlainRunsWorth * State.PlainWallS, LeastReplayS, MostReplayS)) {}
  llvm::Expected<TimesByKernel> run();

private:
  void choose();
  std::string plan(const PlanExclusions &Excluded) const;
  llvm::Expected<TimingRunResult> time();
  void take(const TimingRunResult &Run);
  ModifiedTimes untimed(size_t Kernel, const std::string &Why) const;
  bool isTimed(size_t Kernel) const { return Choices[Kernel].Mode == TimingMode::Replay; }

  TuneState &State;
  const ProbeRecord &Trace;
  const JobContext &Context;
  std::set<std::string> Wanted;
  double ReplayS;
  JobSources Sources;
  TuningJob Job;
  JobBuild Built;
  std::vector<ModifiedVariants> Made; ///< By kernel of the job.
  std::vector<ModeChoice> Choices;    ///< By kernel of the job.
  TimesByKernel Result;
};

ModifiedTimes ModifiedPipeline::untimed(size_t Kernel, const std::string &Why) const {
  ModifiedTimes Times;
  Times.Reason = Made[Kernel].Reason;
  if (!Why.empty())
    Times.Reason += (Times.Reason.empty() ? "" : "; ") + Why;
  return Times;
}

/// Chooses replay for every kernel that can be replayed. No other mode leaves the program with its
/// own results.
void ModifiedPipeline::choose() {
  ModeLimits Limits;
  Limits.Request = ModeRequest::Replay;
  Limits.ReplayS = ReplayS;
  Choices = chooseModes(Job, Built, Trace, Limits);
  for (size_t K = 0; K < Choices.size(); ++K) {
    ModeChoice &C = Choices[K];
    const std::string &Name = Job.Kernels[K].Traced.Kernel;
    if (Built.Kernels[K].timedTogether() == 0)
      C.Mode = TimingMode::Fixed; // It has no modified version.
    if (!Wanted.empty() && !Wanted.count(Name))
      continue;
    if (C.Mode == TimingMode::Replay)
      C.Shapes = {launchedShapes(Job.Kernels[K].Traced).front()}; // It takes most of the time.
    else
      Result[Name] = untimed(K, Made[K].Reason.empty() ? "it cannot be replayed: " + C.Reason : "");
  }
}

std::string ModifiedPipeline::plan(const PlanExclusions &Excluded) const {
  std::vector<ModeChoice> Left = Choices;
  bool Any = false;
  for (size_t K = 0; K < Left.size(); ++K) {
    if (Excluded.Kernels.count(Job.Kernels[K].Traced.Kernel))
      Left[K].Mode = TimingMode::Fixed;
    Any |= Left[K].Mode != TimingMode::Fixed;
  }
  if (!Any)
    return "";
  PlanLimits Limits;
  Limits.Seed = State.Request.Limits.Seed;
  Limits.ReplayMs = uint64_t(ReplayS * 1000);
  return printPlan(Job, Built, Left, Excluded.Faults, Limits);
}

llvm::Expected<TimingRunResult> ModifiedPipeline::time() {
  auto Dir = TempDir::create("carve-modified");
  if (!Dir)
    return Dir.takeError();
  auto Images =
      placeImages(Job, Built, TuningScope::Kernel, Assignment(Job.Kernels.size(), 0), Dir->path());
  if (!Images)
    return Images.takeError();
  auto Run = [&](const std::string &Text) { return runTiming(State, Text, ReplayS, *Images); };
  auto Plan = [&](const PlanExclusions &Excluded) { return plan(Excluded); };
  auto Timed = timeInRun(Plan, Run, &State.Check, *State.Request.Progress);
  if (Timed)
    State.Runs += Timed->Runs;
  return Timed;
}

std::string described(const ModifiedTimes &T) {
  std::string Text = llvm::formatv(": whole {0:f0} ns, memory {1:f0} ns, arithmetic {2:f0} ns",
                                   T.WholeNs, T.MemoryNs, T.ArithmeticNs);
  return T.Reason.empty() ? Text : Text + "; " + T.Reason;
}

void ModifiedPipeline::take(const TimingRunResult &Run) {
  std::string Why;
  if (Run.Failure)
    Why = "the timing run does not count: " + *Run.Failure;
  else if (Run.Difference)
    Why = "the output of the timing run differs: " + *Run.Difference;
  for (size_t K = 0; K < Choices.size(); ++K) {
    if (!isTimed(K))
      continue;
    const JobKernel &Kernel = Job.Kernels[K];
    auto LeftOut = Run.Excluded.Kernels.find(Kernel.Traced.Kernel);
    ModifiedTimes Times = !Why.empty() ? untimed(K, Why)
                          : LeftOut != Run.Excluded.Kernels.end()
                              ? untimed(K, LeftOut->second)
                              : modifiedTimes(Kernel, Built.Kernels[K].Variants, Made[K],
                                              Choices[K].Shapes.front().Shape, Run.Record);
    logLine(Kernel.Traced.Kernel + described(Times));
    Result[Kernel.Traced.Kernel] = std::move(Times);
  }
}

llvm::Expected<TimesByKernel> ModifiedPipeline::run() {
  auto Prepared = prepareJob(Trace, Context, /*AllUnits=*/false, Sources);
  if (!Prepared)
    return Prepared.takeError();
  Job = std::move(*Prepared);
  Built = JobBuild(Job);
  for (const LeftKernel &L : Job.Left)
    if (Wanted.empty() ? L.Reason != KnownReason::BelowShare : Wanted.count(L.Traced.Kernel) > 0)
      Result[L.Traced.Kernel].Reason = L.Reason.text();
  Made = makeModifiedVariants(Job, Sources, Context, Wanted, Built);
  choose();
  bool Any = false;
  for (size_t K = 0; K < Choices.size(); ++K)
    Any |= isTimed(K);
  if (!Any)
    return std::move(Result);
  auto Run = time();
  if (!Run)
    return Run.takeError();
  take(*Run);
  return std::move(Result);
}

} // namespace

llvm::Expected<TimesByKernel> carve::timeModified(TuneState &State, const ProbeRecord &Trace,
                                                  const JobContext &Context,
                                                  const std::vector<std::string> &Kernels) {
  return ModifiedPipeline(State, Trace, Context, Kernels).run();
}

llvm::Expected<TimesByKernel> carve::timeModified(const TuneRequest &Request,
                                                  const ProbeRecord &Trace, UnitStore &Store,
                                                  const Toolchain &T, CommandRunner &Runner,
                                                  const std::vector<std::string> &Kernels) {
  TuneState State(Request, Runner);
  if (auto Again = traceProgram(State); !Again)
    return Again.takeError();
  JobContext Context{Store, T, Runner, Request.Options, {}};
  return timeModified(State, Trace, Context, Kernels);
}
