#include "Recheck/RecheckCommand.h"

#include "Recheck/Recheck.h"
#include "Recheck/StoreRecheck.h"
#include "Store/StaleOutputs.h"
#include "Support/Error.h"
#include "Tune/CapturedWorkload.h"
#include "Tune/PlacedRequest.h"
#include "Tune/RankedWork.h"
#include "Tune/TuningFlags.h"

#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace carve;

namespace {

/// The command line of `carve recheck`.
struct RecheckWords {
  TuneRequest Request = requestToTune();
  std::vector<std::string> Captures, Words;
  bool Json = false;
  bool Quiet = false;  ///< Print only errors, and JSON if it is asked for.
  bool Update = false; ///< Put into the store what was found.

  /// Whether no workload is named, so that the whole store is rechecked.
  bool wholeStore() const {
    return Captures.empty() && Words.empty() && Request.Workload.Argv.empty();
  }
};

Flags recheckFlags(RecheckWords &W) {
  TuneRequest &R = W.Request;
  R.Options.Points = PointSet::Decided;
  Flags F("carve recheck");
  F.form("[options]", "time all decisions of the store again, and say which no longer hold");
  F.form("[options] -- COMMAND...", "the same for the decisions on a program's kernels");
  F.form("[options] --from CAPTURE...", "the same for those on the kernels of captured launches");
  F.arguments("CAPTURE...", W.Words, "more captures, after --from");
  F.behind("COMMAND...", R.Workload.Argv, "the program to run, and its arguments");
  TuningValues Values = valuesOf(R);
  Values.Effort = nullptr;
  Values.Scope = nullptr;
  registerTuning(F, "--", Values);
  F.list("--from", "CAPTURE", W.Captures, "use this captured launch");
  F.text("--stdin", "FILE", R.Workload.StdinPath, "standard input of each run");
  F.flag("--update", W.Update,
         "give lost kernels nvcc's code again, and take over what holds with a new toolkit");
  F.choice("--format", {"text", "json"}, W.Json, "how the result is printed");
  F.flag("--quiet", W.Quiet, "print only errors, and JSON if it is asked for");
  return F;
}

llvm::Error readWords(llvm::ArrayRef<std::string> Args, GetEnv Env, RecheckWords &W) {
  if (llvm::Error E = recheckFlags(W).parse(Args, Env))
    return E;
  const WorkloadSpec &Workload = W.Request.Workload;
  if (W.wholeStore()) {
    if (Workload.StdinPath != WorkloadSpec().StdinPath || !Workload.OutputFiles.empty())
      return usageError("carve recheck: --stdin and --output need a command; without one, those of "
                        "the tuning count");
    return llvm::Error::success();
  }
  return readWorkloadWords("carve recheck", W.Captures, W.Words, W.Request.Workload.Argv);
}

/// Whether what is known now of a kernel replaces the decision \p Earlier on it. A decision in
/// force that holds stays with its evidence, and one that is uncertain or was not timed stays as
/// well.
bool replaces(const KernelReport &Kernel, const EarlierDecision &Earlier) {
  RecheckVerdict Verdict = recheckedKernel(Kernel, Earlier).Verdict;
  return Verdict == RecheckVerdict::Lost ||
         (Verdict == RecheckVerdict::Holds && !Earlier.Stale.empty());
}

constexpr char Purpose[] = "rechecking times kernels on one";

/// Returns the request for \p Turn, with at most \p BudgetS seconds (0 for a tuning's default).
TuneRequest requestFor(const WorkloadTurn &Turn, const TuneRequest &Given, double BudgetS) {
  TuneRequest R = Given;
  const TunedWorkload &W = Turn.Workload;
  R.Workload.Argv = W.Argv;
  R.Workload.Dir = W.Directory;
  R.Workload.StdinPath = W.StdinPath;
  R.Workload.OutputFiles = W.OutputFiles;
  R.Workload.Environment = W.Environment;
  R.Workload.TimeoutS = std::max(Given.Workload.TimeoutS, W.TimeoutS);
  if (W.Domain == LaunchDomain::Traced)
    R.Options.Domain = W.Domain;
  R.Limits.BudgetS = BudgetS;
  R.Options.OnlyKernels.emplace();
  for (const StoredDecision &D : Turn.Decisions)
    R.Options.OnlyKernels->insert(D.Mangled);
  return R;
}

/// Runs \p Turn, and adds to \p Outcome what came of it. A workload that cannot be timed is a
/// reason there. Fails if the run was interrupted.
llvm::Error takeTurn(const WorkloadTurn &Turn, double BudgetS, const RecheckWords &W,
                     UnitStore &Store, const CommandContext &Context, StoreOutcome &Outcome) {
  TuneRequest Request = requestFor(Turn, W.Request, BudgetS);
  std::vector<std::string> Captures;
  for (const WorkloadFile &C : Turn.Workload.Captures)
    Captures.push_back(C.Path);
  const std::string Name = Turn.Workload.text();
  llvm::Expected<TuneResult> Result =
      tunePlaced(Request, Captures, Purpose, W.Quiet, Store, Context);
  if (!Result) {
    llvm::Error Failed = Result.takeError();
    if (Failed.isA<Interrupted>())
      return Failed;
    Outcome.skip(Turn, Name + ": " + llvm::toString(std::move(Failed)));
    return llvm::Error::success();
  }
  RecheckOutcome Timed = recheckOutcome(*Result);
  if (!Timed.Note.empty()) {
    Outcome.skip(Turn, Name + " in " + Turn.Workload.Directory + ": " + Timed.Note);
    return llvm::Error::success();
  }
  Timed.Directory = Turn.Workload.Directory;
  Timed.ProgramChange = programChange(Turn.Workload);
  Outcome.add(Turn, std::move(Timed));
  return llvm::Error::success();
}

/// Times the decisions of the user's own store again, each with the workload that it was tuned
/// with, and prints what became of them.
llvm::Error recheckStore(RecheckWords &W, UnitStore &Store, const CommandContext &Context) {
  if (W.Request.SamplesPath.empty())
    if (llvm::Error E = needGpu(Context.Env, Purpose))
      return E;
  StorePlan Plan = planStore(changingDecisions(Store), tunedWorkloads(Store), whyGone);
  StoreOutcome Outcome{Store.root(), {}, std::move(Plan.Untimed)};
  const double BudgetS = W.Request.Limits.BudgetS;
  const auto Start = std::chrono::steady_clock::now();
  for (const WorkloadTurn &Turn : Plan.Turns) {
    const std::chrono::duration<double> Taken = std::chrono::steady_clock::now() - Start;
    if (BudgetS > 0 && Taken.count() >= BudgetS)
      Outcome.skip(Turn, "no time was left of --budget");
    else if (llvm::Error E = takeTurn(Turn, BudgetS > 0 ? BudgetS - Taken.count() : 0, W, Store,
                                      Context, Outcome))
      return E;
  }
  if (W.Json)
    llvm::outs() << printStoreJson(Outcome);
  else if (!W.Quiet)
    llvm::outs() << printStoreText(Outcome) << rebuildAdvice(staleOutputs(Store, {}));
  if (Outcome.Workloads.empty() && !Outcome.Untimed.empty())
    return unsupported("not timed", Outcome.Untimed.front().Why);
  return Outcome.count(RecheckVerdict::Lost) ? llvm::make_error<Differs>() : llvm::Error::success();
}

/// Times the decisions again on the kernels of the workload that is named, and prints what became
/// of them.
llvm::Error recheckHere(RecheckWords &W, UnitStore &Store, const CommandContext &Context) {
  llvm::Expected<TuneResult> Result =
      tunePlaced(W.Request, W.Captures, Purpose, W.Quiet, Store, Context);
  if (!Result)
    return Result.takeError();
  RecheckOutcome Outcome = recheckOutcome(*Result);
  if (W.Json)
    llvm::outs() << printRecheckJson(Outcome);
  else if (!W.Quiet)
    llvm::outs() << printRecheckText(Outcome) << rebuildAdvice(staleOutputs(Store, {}));
  if (!Outcome.Note.empty())
    return unsupported("not timed", Outcome.Note);
  return Outcome.count(RecheckVerdict::Lost) ? llvm::make_error<Differs>() : llvm::Error::success();
}

} // namespace

llvm::Error carve::runRecheck(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  RecheckWords W;
  if (llvm::Error E = readWords(Args, Context.Env, W))
    return E;
  W.Request.Keeps = [&W](const KernelReport &Kernel, const EarlierDecision *Earlier) {
    return W.Update && Earlier && replaces(Kernel, *Earlier);
  };
  return onceForAllRanks(Args, Context, [&](UnitStore &Store) {
    return W.wholeStore() ? recheckStore(W, Store, Context) : recheckHere(W, Store, Context);
  });
}
