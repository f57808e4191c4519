#include "Tune/TuneCommand.h"

#include "Captures/File/UnitBundle.h"
#include "Report/JsonReport.h"
#include "Report/Terminal.h"
#include "Report/TextReport.h"
#include "Store/StaleOutputs.h"
#include "Store/StoreFolder.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Flags.h"
#include "Tune/Job/TuningOptions.h"
#include "Tune/PlacedRequest.h"
#include "Tune/TunePipeline.h"

#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace carve;

/// The workload that launches the captures \p Files. Each is launched several times, so that there
/// is something to rotate variants into where a kernel cannot be replayed.
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

/// The capture's units into the store, and the whole path of the program that launches them.
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

/// What is printed.
struct TuneOutput {
  bool Json = false;
  bool Quiet = false; ///< Errors alone, and the JSON where it is asked for.
};

/// Reads the command line of `carve tune` into \p R.
static llvm::Error readTuneOptions(llvm::ArrayRef<std::string> Args, GetEnv Env, TuneRequest &R,
                                   TuneOutput &Shown, bool &FromCaptures) {
  unsigned Mode = 0, Scope = 0, Domain = 0, Points = 0, Format = 0;
  llvm::Expected<unsigned> Effort = defaultEffort(Env);
  if (!Effort)
    return Effort.takeError();
  Flags F("carve tune");
  F.seconds("--timeout", R.Workload.TimeoutS);
  F.number("--max-runs", R.Limits.MaxRuns, 1, 1000000);
  F.seconds("--budget", R.Limits.BudgetS);
  F.choice("--mode", {"auto", "fixed", "rotate", "replay"}, Mode);
  F.choice("--scope", {"kernel", "file"}, Scope);
  F.number("--effort", *Effort, 0, MaxEffort);
  F.choice("--points", {"critical", "every-8", "all"}, Points);
  F.choice("--launch-domain", {"preserve", "traced"}, Domain);
  F.list("--output", R.Workload.OutputFiles);
  F.text("--stdin", R.Workload.StdinPath);
  F.text("--profile", R.ProfilePath);
  F.text("--samples", R.SamplesPath);
  F.text("--record", R.RecordPath);
  F.choice("--format", {"text", "json"}, Format);
  F.flag("--quiet", Shown.Quiet);
  std::vector<std::string> Positional, Captures;
  F.list("--from", Captures);
  if (llvm::Error E = F.parse(Args, Positional, R.Workload.Argv))
    return E;
  FromCaptures = !Captures.empty();
  if (FromCaptures) {
    if (llvm::Error E = launchCaptures(Captures, std::move(Positional), R.Workload.Argv))
      return E;
    Positional.clear();
  }
  if (!Positional.empty())
    return usageError("carve tune: unexpected '" + Positional.front() +
                      "'; the command to run stands behind --");
  if (R.Workload.Argv.empty())
    return usageError("carve tune: no command, expected: carve tune -- COMMAND...");
  if (!R.SamplesPath.empty() && !R.RecordPath.empty())
    return usageError("carve tune: --samples and --record exclude each other");
  R.Mode = ModeRequest(Mode);
  R.Options.Scope = Scope ? TuningScope::File : TuningScope::Kernel;
  R.Options.Points = PointSet(Points);
  R.Options.Search = searchLimits(*Effort);
  R.Options.Domain = Domain ? LaunchDomain::Traced : LaunchDomain::Preserve;
  Shown.Json = Format == 1;
  return llvm::Error::success();
}

/// What is said while it runs.
static void tellProgress(TuneRequest &R, TerminalProgress &Progress, bool Quiet) {
  R.Progress = [&](unsigned Done, unsigned Expected, double Seconds) {
    Progress.show(Done, Expected, Seconds);
  };
  R.Step = [&](llvm::StringRef What, size_t Done, size_t Of) { Progress.step(What, Done, Of); };
  R.Announce = [&Progress, Quiet](llvm::StringRef Text) {
    Progress.clear();
    if (!Quiet)
      llvm::errs() << "carve: note: " << Text << "\n";
  };
  R.Waiting = [&](llvm::StringRef Text) { Progress.say(Text); };
}

llvm::Error carve::runTune(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  TuneRequest R;
  TuneOutput Shown;
  bool FromCaptures = false;
  if (llvm::Error E = readTuneOptions(Args, Context.Env, R, Shown, FromCaptures))
    return E;
  llvm::Expected<std::string> Root = storeFolder(Context.Env);
  if (!Root)
    return Root.takeError();
  if (R.SamplesPath.empty())
    if (llvm::Error E = needGpu(Context.Env, "tuning times kernels on one"))
      return E;
  UnitStore Store(*Root);
  if (FromCaptures)
    if (llvm::Error E = openCaptures(Context, R.Workload.Argv, Store))
      return E;
  llvm::Expected<Toolchain> T = toolchainOf(Context);
  if (!T)
    return T.takeError();
  placeRequest(R, *T, Context);
  TerminalProgress Progress(::isatty(2) && !Shown.Quiet, "carve");
  tellProgress(R, Progress, Shown.Quiet);
  ProcessRunner Runner;
  llvm::Expected<TuneResult> Result = tune(R, Store, *T, Runner);
  Progress.clear();
  if (!Result)
    return Result.takeError();
  unsigned Columns = llvm::sys::Process::StandardOutColumns();
  if (Shown.Json)
    llvm::outs() << printJsonReport(Result->Report);
  else if (!Shown.Quiet)
    llvm::outs() << printTextReport(Result->Report, Columns ? Columns : 100)
                 << rebuildAdvice(staleOutputs(Store, {}));
  if (!Result->Report.Note.empty())
    return unsupported("not tuned", Result->Report.Note);
  return llvm::Error::success();
}
