#include "Recheck/RecheckCommand.h"

#include "Recheck/Recheck.h"
#include "Store/StaleOutputs.h"
#include "Store/StoreFolder.h"
#include "Support/Error.h"
#include "Tune/CapturedWorkload.h"
#include "Tune/PlacedRequest.h"
#include "Tune/RankedWork.h"
#include "Tune/TuningFlags.h"

#include "llvm/Support/raw_ostream.h"

using namespace carve;

namespace {

/// The command line of `carve recheck`.
struct RecheckWords {
  TuneRequest Request = requestToTune();
  std::vector<std::string> Captures, Words;
  bool Json = false;
  bool Quiet = false;  ///< Print only errors, and JSON if it is asked for.
  bool Update = false; ///< Put into the store what was found.
};

Flags recheckFlags(RecheckWords &W) {
  TuneRequest &R = W.Request;
  R.Options.Points = PointSet::Decided;
  Flags F("carve recheck");
  F.form("[options] -- COMMAND...", "time earlier decisions again, and say which no longer hold");
  F.form("[options] --from CAPTURE...", "the same with captured launches instead of a program");
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

/// Times the decisions again, and prints what became of them.
llvm::Error recheckHere(RecheckWords &W, UnitStore &Store, const CommandContext &Context) {
  W.Request.Keeps = [&](const KernelReport &Kernel, const EarlierDecision *Earlier) {
    return W.Update && Earlier && replaces(Kernel, *Earlier);
  };
  llvm::Expected<TuneResult> Result =
      tunePlaced(W.Request, W.Captures, "rechecking times kernels on one", W.Quiet, Store, Context);
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
  llvm::Expected<std::string> Root = storeFolder(Context.Env);
  if (!Root)
    return Root.takeError();
  UnitStore Store = storeAt(*Root, Context.Env);
  return onceForAllRanks(launchedRank(Context.Env), Args, Store,
                         [&] { return recheckHere(W, Store, Context); });
}
