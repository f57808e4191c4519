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

static void describeRequest(const TuneRequest &Request, TuningReport &Report) {
  Report.Date = utcNow();
  Report.Workload = llvm::join(Request.Workload.Argv, " ");
  Report.Domain = Request.Options.Domain == LaunchDomain::Traced ? "traced" : "preserve";
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
  describeRequest(State.Request, Result.Report);
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
  TuneResult Result;
  Result.Report = describeTuning(*Job, Request.Options.Scope, *Outcome, Timed);
  reportLevels(Levels, *Job, Result.Report);
  describeRequest(Request, Result.Report);
  describeHost(State, *Trace, Result.Report);
  if (!Job->Modules.empty())
    Result.Report.NvccVersion = Job->Modules.front().Source.NvccVersion;
  llvm::Error Kept = rememberDecisions(Request, *Job, *Outcome, Levels, Store, Result);
  finish(State, Store, Result.Report);
  if (Kept)
    return Kept;
  return Result;
}
