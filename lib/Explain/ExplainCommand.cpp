#include "Explain/ExplainCommand.h"

#include "Explain/ExplainReport.h"
#include "Explain/LimitsJson.h"
#include "Explain/LimitsPipeline.h"
#include "Explain/Modified/ModifiedKernels.h"
#include "Report/NamedReport.h"
#include "Store/StoreFolder.h"
#include "Support/Error.h"
#include "Tune/PlacedRequest.h"
#include "Tune/TuneState.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;

/// Reads the report that \p Options name, by default the store's last one.
static llvm::Expected<TuningReport> readReport(const ExplainOptions &Options, GetEnv Env) {
  const std::string &File = Options.ReportFile;
  llvm::Expected<TuningReport> R = namedReport(File, Env);
  if (R || File != "latest")
    return R;
  return usageError(llvm::toString(R.takeError()) +
                    ": `carve tune -- COMMAND` makes a report, `carve explain -- COMMAND` needs "
                    "none");
}

static llvm::Error explainReport(const ExplainOptions &Options, const CommandContext &Context) {
  llvm::Expected<TuningReport> R = readReport(Options, Context.Env);
  if (!R)
    return R.takeError();
  const std::string &Kernel = Options.Kernel;
  std::string Text = Options.Json ? printExplanationJson(*R, Kernel) : printExplanation(*R, Kernel);
  if (Text.empty() && !Kernel.empty())
    return usageError(
        "carve explain: no kernel '" + Kernel + "' in the report, expected one of " +
        llvm::join(llvm::map_range(R->Kernels, [](const KernelReport &K) { return K.Kernel; }),
                   ", "));
  llvm::outs() << (Text.empty() ? "no variant was made of any kernel\n" : Text);
  return llvm::Error::success();
}

/// Returns the functions that measure in this program. Tests use others.
static LimitSources limitSources() {
  LimitSources Sources;
  Sources.Counters = [](TuneState &State, const std::vector<TracedKernel> &Kernels) {
    return countHardware(State.Request, Kernels, State.Runner, State.gpus(), &State.Check);
  };
  Sources.Modified = [](TuneState &State, const ProbeRecord &Trace, const JobContext &Context,
                        const std::vector<std::string> &Kernels) {
    return timeModified(State, Trace, Context, Kernels);
  };
  return Sources;
}

static llvm::Error explainCommand(const ExplainOptions &Options, const CommandContext &Context) {
  llvm::Expected<std::string> Root = storeFolder(Context.Env);
  if (!Root)
    return Root.takeError();
  if (llvm::Error E = needGpu(Context.Env, "carve explain -- COMMAND runs the program on one"))
    return E;
  // A program that was never tuned can be explained, too.
  std::optional<TuningReport> Tuned;
  if (llvm::Expected<TuningReport> R = readReport(Options, Context.Env))
    Tuned = std::move(*R);
  else if (Options.ReportFile != "latest")
    return R.takeError();
  else
    llvm::consumeError(R.takeError());
  UnitStore Store = storeAt(*Root, Context.Env);
  llvm::Expected<Toolchain> T = toolchainOf(Context);
  if (!T)
    return T.takeError();
  TuneRequest Request = explainRequest(Options);
  placeRequest(Request, *T, Context);
  ProcessRunner Runner;
  llvm::Expected<LimitsReport> Report =
      explainLimits(Options, Request, Tuned ? &*Tuned : nullptr, limitSources(), Store, *T, Runner);
  if (!Report)
    return Report.takeError();
  if (Options.Quiet && !Options.Json)
    Report->Notes.clear();
  llvm::outs() << (Options.Json ? printLimitsJson(*Report) : printLimitsText(*Report));
  return llvm::Error::success();
}

llvm::Error carve::runExplain(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  llvm::Expected<ExplainOptions> Options = parseExplainOptions(Args);
  if (!Options)
    return Options.takeError();
  return Options->Command.empty() ? explainReport(*Options, Context)
                                  : explainCommand(*Options, Context);
}
