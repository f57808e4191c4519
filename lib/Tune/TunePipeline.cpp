#include "Tune/TunePipeline.h"

#include "Report/JsonReport.h"
#include "Store/FlavourPtx.h"
#include "Support/Clock.h"
#include "Support/Error.h"
#include "Support/Log.h"
#include "Tune/TuneDecisions.h"
#include "Tune/TuneLevels.h"
#include "Tune/TuneRounds.h"
#include "Tune/TuneSelection.h"
#include "Tune/TuneState.h"
#include "Tune/TuneTrace.h"

#include "llvm/ADT/StringExtras.h"

#include <unistd.h>

using namespace carve;

/// As far as they are known before the program was traced.
static Circumstances circumstancesOf(const TuneRequest &Request) {
  Circumstances When;
  When.Date = utcNow();
  When.Workload = llvm::join(Request.Workload.Argv, " ");
  When.Domain = Request.Options.Domain;
  return When;
}

/// Where the program ran, and who else was there.
static void describeHost(TuneState &State, const ProbeRecord &Trace, TuningReport &Report) {
  Report.Processes = Trace.Processes;
  Report.Gpus = Trace.Devices.size();
  if (!State.Gpus)
    return;
  (void)State.Gpus->take(); // A last look.
  Report.OtherUsers = State.Gpus->otherUsers();
}

/// What is known at the end alone, and the report into the store.
static void finish(TuneState &State, UnitStore &Store, TuningReport &Report) {
  Report.WallS = State.seconds();
  Report.PlainWallS = State.PlainWallS;
  Report.Runs += State.Runs + State.Check.runs();
  Report.RunsBeforeConfirmation += State.Runs;
  Report.UnstableLines = State.Check.reference().unstableLines();
  Report.Unordered = State.Check.reference().unordered();
  if (llvm::Error E =
          Store.putReport(Report.Date + "-" + std::to_string(::getpid()), printJsonReport(Report)))
    logLine("report not kept: " + llvm::toString(std::move(E)));
}

/// A program that cannot be traced is a result; everything else is an error.
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
  // What the program launches.
  llvm::Expected<ProbeRecord> Trace = traceProgram(State);
  if (!Trace)
    return withoutTrace(Trace.takeError(), State, Store);
  // What is to be timed.
  JobContext Context{Store,
                     T,
                     Runner,
                     Request.Options,
                     [&](const Unit &U, const UnitImage &I, unsigned Cap) {
                       return flavourPtx(U, I.PtxDigest, Cap, Store, T, Runner);
                     },
                     Request.Step};
  JobSources Sources;
  llvm::Expected<TuningJob> Job = prepareJob(*Trace, Context, State.recorded(), Sources);
  if (!Job)
    return Job.takeError();
  // Variants inside the program.
  std::optional<VariantRounds> Rounds;
  std::optional<InRunTuning> InRun;
  if (Request.Options.Scope == TuningScope::Kernel) {
    Rounds.emplace(*Job, Sources, Context);
    auto Made = timeRounds(State, *Job, *Rounds, *Trace);
    if (!Made)
      return Made.takeError();
    InRun = std::move(*Made);
  }
  const InRunTuning *Timed = InRun ? &*InRun : nullptr;
  // Whole runs.
  llvm::Expected<SelectionOutcome> Outcome = selectByRuns(State, *Job, Timed);
  if (!Outcome)
    return Outcome.takeError();
  // What holds for whole units.
  std::vector<LeveledUnit> Levels;
  if (Rounds) {
    auto Made = tuneLevels(State, *Job, *Rounds, *Outcome);
    if (!Made)
      return Made.takeError();
    Levels = std::move(*Made);
  }
  // What is decided, and then what is said of it.
  std::vector<DecidedUnit> Decided = decideKernels(*Job, Request.Options.Scope, *Outcome, Timed);
  decideLevels(Levels, *Job, Decided);
  Circumstances When = circumstancesOf(Request);
  When.Device = Job->Device.Name;
  When.Driver = Job->Device.driverVersion();
  TuneResult Result;
  llvm::Error Kept = rememberDecisions(Request, *Job, Decided, When, Store, Result.Decisions);
  Result.Report = describeTuning(*Job, Request.Options.Scope, *Outcome, Timed, Decided, When);
  for (const LeveledUnit &Unit : Levels)
    Result.Report.Units.push_back(Unit.Report);
  describeHost(State, *Trace, Result.Report);
  if (!Job->Modules.empty())
    Result.Report.NvccVersion = Job->Modules.front().Source.NvccVersion;
  finish(State, Store, Result.Report);
  if (Kept)
    return Kept;
  return Result;
}
