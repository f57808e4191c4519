#include "Tune/TuneCommand.h"

#include "Report/JsonReport.h"
#include "Report/TextReport.h"
#include "Store/StaleOutputs.h"
#include "Support/Error.h"
#include "Tune/CapturedWorkload.h"
#include "Tune/PlacedRequest.h"
#include "Tune/RankedWork.h"
#include "Tune/TunePipeline.h"

#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;

/// The command line of `carve tune`.
struct TuneWords {
  TuneRequest Request = requestToTune();
  std::vector<std::string> Captures, Words;
  bool Json = false;
  bool Quiet = false; ///< Print only errors, and the JSON report if it is asked for.
};

static Flags tuneFlags(TuneWords &W) {
  TuneRequest &R = W.Request;
  Flags F("carve tune");
  F.form("[options] -- COMMAND...",
         "time variants in COMMAND's kernels; the next build emits the winners");
  F.form("[options] --from CAPTURE...", "the same with captured launches instead of a program");
  F.arguments("CAPTURE...", W.Words, "more captures, after --from");
  F.behind("COMMAND...", R.Workload.Argv, "the program to run, and its arguments");
  registerTuning(F, "--", valuesOf(R));
  F.choice("--points", {"critical", "every-8", "all"}, R.Options.Points,
           "other sets of variants, to compare the search with");
  F.text("--record", "FILE", R.RecordPath,
         "record the trace, the timing run and the samples in this file");
  F.list("--from", "CAPTURE", W.Captures, "tune this captured launch");
  F.text("--stdin", "FILE", R.Workload.StdinPath, "standard input of each run");
  F.text("--profile", "FILE", R.ProfilePath, "write the decisions to this profile too");
  F.choice("--format", {"text", "json"}, W.Json, "how the report is printed");
  F.flag("--quiet", W.Quiet, "print only errors, and JSON if it is asked for");
  return F;
}

/// Reads the command line of `carve tune` into \p W.
static llvm::Error readTuneOptions(llvm::ArrayRef<std::string> Args, GetEnv Env, TuneWords &W) {
  if (llvm::Error E = tuneFlags(W).parse(Args, Env))
    return E;
  TuneRequest &R = W.Request;
  if (llvm::Error E = readWorkloadWords("carve tune", W.Captures, W.Words, R.Workload.Argv))
    return E;
  if (!R.SamplesPath.empty() && !R.RecordPath.empty())
    return usageError("carve tune: --samples and --record exclude each other");
  return llvm::Error::success();
}

/// Tunes, and prints the report.
static llvm::Error tuneHere(TuneWords &W, UnitStore &Store, const CommandContext &Context) {
  llvm::Expected<TuneResult> Result =
      tunePlaced(W.Request, W.Captures, "tuning times kernels on one", W.Quiet, Store, Context);
  if (!Result)
    return Result.takeError();
  unsigned Columns = llvm::sys::Process::StandardOutColumns();
  if (W.Json)
    llvm::outs() << printJsonReport(Result->Report);
  else if (!W.Quiet)
    llvm::outs() << printTextReport(Result->Report, Columns ? Columns : 100)
                 << rebuildAdvice(staleOutputs(Store, {}));
  if (!Result->Report.Note.empty())
    return unsupported("not tuned", Result->Report.Note);
  return llvm::Error::success();
}

llvm::Error carve::runTune(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  TuneWords W;
  if (llvm::Error E = readTuneOptions(Args, Context.Env, W))
    return E;
  return onceForAllRanks(Args, Context,
                         [&](UnitStore &Store) { return tuneHere(W, Store, Context); });
}
