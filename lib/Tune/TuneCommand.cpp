#include "Tune/TuneCommand.h"

#include "Captures/File/UnitBundle.h"
#include "Report/JsonReport.h"
#include "Report/Terminal.h"
#include "Report/TextReport.h"
#include "Store/StaleOutputs.h"
#include "Store/StoreFolder.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Tune/PlacedRequest.h"
#include "Tune/RankedWork.h"
#include "Tune/TunePipeline.h"
#include "Tune/TuningFlags.h"

#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace carve;

/// Sets \p Argv to the workload that launches the captures \p Files and \p Behind. Each capture is
/// launched several times, so that variants can be rotated through the launches if a kernel cannot
/// be replayed.
static llvm::Error launchCaptures(std::vector<std::string> Files, std::vector<std::string> Behind,
                                  std::vector<std::string> &Argv) {
  if (!Argv.empty())
    return usageError("carve tune: --from and a command exclude each other");
  Files.insert(Files.end(), Behind.begin(), Behind.end());
  Argv = {"carve-launch", "--repeat=3"};
  for (const std::string &File : Files)
    Argv.push_back(normalisedPath(File));
  return llvm::Error::success();
}

/// Puts the captures' units into the store, and the full path of carve-launch into \p Argv.
static llvm::Error openCaptures(const CommandContext &Context, std::vector<std::string> &Argv,
                                UnitStore &Store) {
  Argv.front() = Context.Install.Launch;
  for (const std::string &File : llvm::ArrayRef(Argv).drop_front(2)) {
    llvm::Expected<CaptureReader> Reader = CaptureReader::open(File);
    if (!Reader)
      return Reader.takeError();
    if (llvm::Error E = unbundleUnits(*Reader, Store))
      return E;
  }
  return llvm::Error::success();
}

/// The command line of `carve tune`.
struct TuneWords {
  TuneRequest Request;
  std::vector<std::string> Captures, Words;
  bool Json = false;
  bool Quiet = false; ///< Print only errors, and the JSON report if it is asked for.
};

static Flags tuneFlags(TuneWords &W) {
  TuneRequest &R = W.Request;
  R.Options.Entries = FurtherEntries::Values;
  Flags F("carve tune");
  F.form("[options] -- COMMAND...",
         "time variants in COMMAND's kernels; the next build emits the winners");
  F.form("[options] --from CAPTURE...", "the same with captured launches instead of a program");
  F.arguments("CAPTURE...", W.Words, "more captures, after --from");
  F.behind("COMMAND...", R.Workload.Argv, "the program to run, and its arguments");
  registerTuning(F, "--",
                 {R.Workload.TimeoutS, R.Limits.MaxRuns, R.Limits.BudgetS, R.Mode, R.Options.Effort,
                  R.Options.Scope, R.Options.Domain, R.Options.Entries, R.Workload.OutputFiles,
                  R.SamplesPath});
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
  if (!W.Captures.empty()) {
    if (llvm::Error E = launchCaptures(W.Captures, std::move(W.Words), R.Workload.Argv))
      return E;
    W.Words.clear();
  }
  if (!W.Words.empty())
    return usageError("carve tune: unexpected '" + W.Words.front() +
                      "', expected the command after '--'");
  if (R.Workload.Argv.empty())
    return usageError("carve tune: no command, expected: carve tune -- COMMAND...");
  R.Options.LeastShare = LeastTunedShare;
  if (!R.SamplesPath.empty() && !R.RecordPath.empty())
    return usageError("carve tune: --samples and --record exclude each other");
  return llvm::Error::success();
}

/// Tunes, and prints the report.
static llvm::Error tuneHere(TuneWords &W, UnitStore &Store, const CommandContext &Context) {
  TuneRequest &R = W.Request;
  if (R.SamplesPath.empty())
    if (llvm::Error E = needGpu(Context.Env, "tuning times kernels on one"))
      return E;
  if (!W.Captures.empty())
    if (llvm::Error E = openCaptures(Context, R.Workload.Argv, Store))
      return E;
  llvm::Expected<Toolchain> T = toolchainOf(Context);
  if (!T)
    return T.takeError();
  placeRequest(R, *T, Context);
  TerminalProgress Progress(
      {.Program = "carve", .Line = ::isatty(2) && !W.Quiet, .Notes = !W.Quiet});
  R.Progress = &Progress;
  ProcessRunner Runner;
  llvm::Expected<TuneResult> Result = tune(R, Store, *T, Runner);
  Progress.clear();
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
  llvm::Expected<std::string> Root = storeFolder(Context.Env);
  if (!Root)
    return Root.takeError();
  UnitStore Store = storeAt(*Root, Context.Env);
  return onceForAllRanks(launchedRank(Context.Env), Args, Store,
                         [&] { return tuneHere(W, Store, Context); });
}
