#include "Tune/TunePipeline.h"

#include "Ptx/ProfileName.h"
#include "Report/JsonReport.h"
#include "Store/FlavourPtx.h"
#include "Support/Clock.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Log.h"
#include "Tune/EntriesInForce.h"
#include "Tune/Job/FileVariants.h"
#include "Tune/TuneDecisions.h"
#include "Tune/TuneGpus.h"
#include "Tune/TuneRounds.h"
#include "Tune/TuneSelection.h"
#include "Tune/TuneState.h"
#include "Tune/TuneTrace.h"
#include "Tune/TunedWorkload.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <set>
#include <unistd.h>

using namespace carve;

/// The circumstances that are known before the program is traced.
static Circumstances circumstancesOf(const TuneRequest &Request) {
  Circumstances When;
  When.Date = utcNow();
  When.Workload = llvm::join(Request.Workload.Argv, " ");
  When.Domain = Request.Options.Domain;
  return When;
}

/// Adds to \p Report the program's processes and GPUs, what graphs launch there, and other users of
/// these GPUs.
static void describeHost(TuneState &State, const ProbeRecord &Trace, TuningReport &Report) {
  Report.Processes = Trace.Processes;
  Report.Gpus = Trace.Devices.size();
  Report.GraphShare = Trace.graphShare();
  for (size_t Gpu = 0; Gpu < State.gpuCount() && State.gpus(); ++Gpu) {
    (void)State.gpus(Gpu)->take(); // This looks for other users a last time.
    llvm::append_range(Report.OtherUsers, State.gpus(Gpu)->otherUsers());
  }
}

/// Adds to \p Report the GPUs of `--gpus`, and which of them timed each kernel if it was one of
/// several.
static void describeGpus(const TuneState &State, const TuningJob &Job, TuningReport &Report) {
  for (const TunedGpu &Used : State.Several)
    Report.TimedOn.push_back(Used.Gpu.text());
  Report.LeftGpus = State.LeftGpus;
  Report.GpuNote = State.GpuNote;
  if (State.Several.size() < 2)
    return;
  for (size_t K = 0; K < Job.Kernels.size(); ++K)
    for (KernelReport &Its : Report.Kernels)
      if (Its.Mangled == Job.Kernels[K].Traced.Kernel && !Its.InRun.Mode.empty() &&
          Its.InRun.Mode != nameOf(TimingMode::Fixed))
        Its.InRun.Gpu = State.Several[State.gpuOf(K)].Gpu.text();
}

/// Adds to \p Report the further entries that were in force while the program was traced.
static void describeEarlier(std::map<std::string, std::vector<EntryHold>> Earlier,
                            TuningReport &Report) {
  for (KernelReport &K : Report.Kernels)
    if (auto Its = Earlier.find(K.Mangled); Its != Earlier.end())
      K.Earlier = Its->second;
}

/// Adds to \p Report what is only known at the end, and puts it into the store if the request keeps
/// everything.
static void finish(TuneState &State, UnitStore &Store, TuningReport &Report) {
  Report.WallS = State.seconds();
  Report.PlainWallS = State.PlainWallS;
  Report.Runs += State.Runs + State.Check.runs();
  Report.RunsBeforeConfirmation += State.Runs;
  Report.UnstableLines = State.Check.reference().unstableLines();
  Report.Unordered = State.Check.reference().unordered();
  if (State.Request.Keeps)
    return;
  if (llvm::Error E =
          Store.putReport(Report.Date + "-" + std::to_string(::getpid()), printJsonReport(Report)))
    logLine("the report was not stored: " + llvm::toString(std::move(E)));
}

/// Those of \p Decided that \p Request keeps. \p Result describes them.
static std::vector<DecidedUnit> keptOf(std::vector<DecidedUnit> Decided, const TuneRequest &Request,
                                       const TuningJob &Job, const TuneResult &Result) {
  if (!Request.Keeps)
    return Decided;
  std::set<std::string> Kept;
  for (const KernelReport &K : Result.Report.Kernels) {
    auto Earlier = Result.Earlier.find(K.Mangled);
    if (Request.Keeps(K, Earlier == Result.Earlier.end() ? nullptr : &Earlier->second))
      Kept.insert(K.Mangled);
  }
  for (DecidedUnit &U : Decided)
    llvm::erase_if(U.Kernels, [&](const DecidedKernel &D) {
      return !Kept.count(Job.Kernels[D.Kernel].Traced.Kernel);
    });
  return Decided;
}

/// Puts into \p Store with which workload the kernels of \p Decided were decided.
static void rememberWorkloadOf(const TuneRequest &Request, const TuningJob &Job,
                               llvm::ArrayRef<DecidedUnit> Decided, const Circumstances &When,
                               UnitStore &Store) {
  llvm::Expected<TunedWorkload> W =
      Request.Captures.empty() ? llvm::Expected<TunedWorkload>(commandWorkload(Request.Workload))
                               : capturesWorkload(Request.Captures, Request.Workload.Dir);
  if (!W) {
    logLine("the workload was not stored: " + llvm::toString(W.takeError()));
    return;
  }
  W->Date = When.Date;
  W->TimeoutS = Request.Workload.TimeoutS;
  W->Domain = When.Domain;
  for (size_t M = 0; M < Decided.size(); ++M)
    for (const DecidedKernel &D : Decided[M].Kernels) {
      const TracedKernel &Traced = Job.Kernels[D.Kernel].Traced;
      WorkloadKernel K{Job.Modules[M].Source.Key, profileName(Traced.Kernel), Traced.Kernel};
      for (const KernelLaunches &L : Traced.Shapes)
        K.GpuNs += double(L.TotalNs);
      W->Kernels.push_back(K);
      for (const Unit &Twin : Job.Modules[M].Twins) {
        K.Unit = Twin.Key;
        W->Kernels.push_back(K);
      }
    }
  rememberWorkload(std::move(*W), Store);
}

/// The result if there is no trace. A program that cannot be traced is a note in the report; any
/// other failure is an error.
static llvm::Expected<TuneResult> withoutTrace(llvm::Error Why, TuneState &State,
                                               UnitStore &Store) {
  TuneResult Result;
  Result.Report.take(circumstancesOf(State.Request));
  llvm::Error Rest = llvm::handleErrors(
      std::move(Why), [&](const Untraceable &U) { Result.Report.Note = U.detail(); });
  if (Rest)
    return Rest;
  finish(State, Store, Result.Report);
  return Result;
}

llvm::Expected<TuneResult> carve::tune(const TuneRequest &Request, UnitStore &Store,
                                       const Toolchain &T, CommandRunner &Runner) {
  TuneState State(Request, Runner);
  if (llvm::Error E = chooseTunedGpus(State))
    return E;
  // Trace what the program launches.
  llvm::Expected<ProbeRecord> Trace = traceProgram(State);
  if (!Trace)
    return withoutTrace(Trace.takeError(), State, Store);
  // The entries that the program has now are asked before new ones replace them.
  auto Earlier = entriesInForce(*Trace, Store);
  // Find what is to be timed.
  AbandonableRunner FlavourRunner(Runner);
  // The variants of a whole file are few, and all of them are wanted.
  auto LeftS = [&State]() -> std::optional<double> {
    std::optional<double> Left = State.secondsLeft();
    if (!Left || State.Request.Options.Scope == TuningScope::File)
      return std::nullopt;
    return std::max(0.0, *Left - ShareAfterRuns * State.BudgetS);
  };
  DeadlineRunner InTime(Runner, LeftS);
  JobContext Context{Store,
                     T,
                     InTime,
                     Request.Options,
                     [&](const Unit &U, const UnitImage &I, const FrontEndSetting &S) {
                       return flavourPtx(U, I.PtxDigest, S, Store, T, FlavourRunner);
                     },
                     *Request.Progress,
                     &FlavourRunner,
                     LeftS};
  JobSources Sources;
  llvm::Expected<TuningJob> Job = prepareJob(*Trace, Context, State.recorded(), Sources);
  if (!Job)
    return Job.takeError();
  shareOut(State, *Job);
  JobBuild Built(*Job);
  if (Request.Options.Scope == TuningScope::File)
    if (llvm::Error E = makeFileVariants(*Job, Context, Built))
      return E;
  // Time variants inside the program.
  std::optional<VariantRounds> Rounds;
  std::optional<InRunTuning> InRun;
  if (Request.Options.Scope == TuningScope::Kernel) {
    Rounds.emplace(*Job, Sources, Context, Built);
    auto Made = timeRounds(State, *Job, Built, *Rounds, *Trace);
    if (!Made)
      return Made.takeError();
    InRun = std::move(*Made);
  }
  const InRunTuning *Timed = InRun ? &*InRun : nullptr;
  // Decide the rest by whole runs, and confirm the winners.
  llvm::Expected<SelectionOutcome> Outcome = selectByRuns(State, *Job, Built, Timed);
  if (!Outcome)
    return Outcome.takeError();
  // Decide, store the decisions, and report them.
  std::vector<DecidedUnit> Decided =
      decideKernels(*Job, Built, Request.Options.Scope, *Outcome, Timed);
  Circumstances When = circumstancesOf(Request);
  When.Device = Job->Device.Name;
  When.Driver = Job->Device.driverVersion();
  TuneResult Result;
  Result.Report =
      describeTuning(*Job, Built, Request.Options.Scope, *Outcome, Timed, Decided, When);
  for (const JobKernel &K : Job->Kernels)
    if (K.Earlier)
      Result.Earlier.emplace(K.Traced.Kernel, *K.Earlier);
  const std::vector<DecidedUnit> ToKeep = keptOf(Decided, Request, *Job, Result);
  llvm::Error Kept = rememberDecisions(Request, *Job, Built, ToKeep, When, Store, Result.Decisions);
  rememberWorkloadOf(Request, *Job, ToKeep, When, Store);
  describeEarlier(std::move(Earlier), Result.Report);
  describeHost(State, *Trace, Result.Report);
  describeGpus(State, *Job, Result.Report);
  if (!Job->Modules.empty())
    Result.Report.NvccVersion = Job->Modules.front().Source.NvccVersion;
  finish(State, Store, Result.Report);
  if (Kept)
    return Kept;
  return Result;
}
