#include "Explain/LimitsPipeline.h"

#include "Metrics/CountedMetrics.h"
#include "Ptx/ProfileName.h"
#include "Support/Error.h"
#include "Support/Flags.h"
#include "Tune/EntriesInForce.h"
#include "Tune/TuneTrace.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace carve;

namespace {

class LimitsPipeline {
public:
  LimitsPipeline(const ExplainOptions &Options, TuneState &State, const JobContext &Context,
                 const LimitSources &Sources)
      : Options(Options), State(State), Context(Context), Sources(Sources) {}
  llvm::Expected<LimitsReport> run(const TuningReport *Tuned);

private:
  llvm::Error choose();
  llvm::Error balance();
  llvm::Error count();
  llvm::Error measure();
  void join(const TuningReport &Tuned);
  KernelEvidence *find(llvm::StringRef Mangled);
  std::vector<std::string> names() const;

  const ExplainOptions &Options;
  TuneState &State;
  const JobContext &Context;
  const LimitSources &Sources;
  ProbeRecord Trace;
  std::vector<TracedKernel> Kernels; ///< The kernels that are explained.
  LimitsReport Report;
};

KernelEvidence evidenceOf(const TracedKernel &K) {
  KernelEvidence E;
  E.Kernel = K.Kernel;
  E.Share = K.Share;
  E.Launches = K.Launches;
  E.Shape = heaviestShape(K);
  for (const KernelLaunches &L : K.Shapes)
    if (L.Shape == E.Shape && L.Launches) {
      E.MeanNs = double(L.TotalNs) / L.Launches;
      E.RegsPerThread = L.RegsPerThread;
      E.StaticSmemBytes = L.StaticSmemBytes;
    }
  return E;
}

/// True if the kernel of the report \p K has the code that ran: either the default's or the tuned
/// one's.
bool isSameCode(const KernelReport &K, const KernelEvidence &E) {
  bool AsTuned = K.Tuned && K.RegsAfter && E.RegsPerThread == K.RegsAfter;
  return !K.RegsBefore || !E.RegsPerThread || E.RegsPerThread == K.RegsBefore || AsTuned;
}

void takeCounts(const KernelMetrics &M, KernelEvidence &E) {
  E.SpillBytes = M.Metrics.SpillBytes;
  if (M.Ptx)
    E.takeCounts(*M.Ptx, M.Code, M.CountedThreads > 0);
}

/// Stores in \p Reason why a source gave no result. Returns an error only if a signal interrupted
/// us.
llvm::Error unlessInterrupted(llvm::Error E, std::string &Reason) {
  return llvm::handleErrors(
      std::move(E), [](std::unique_ptr<Interrupted> Stop) { return llvm::Error(std::move(Stop)); },
      [&](const llvm::ErrorInfoBase &Info) { Reason = Info.message(); });
}

KernelEvidence *LimitsPipeline::find(llvm::StringRef Mangled) {
  for (KernelLimits &K : Report.Kernels)
    if (K.Evidence.Kernel == Mangled)
      return &K.Evidence;
  return nullptr;
}

std::vector<std::string> LimitsPipeline::names() const {
  std::vector<std::string> Names;
  for (const TracedKernel &K : Kernels)
    Names.push_back(K.Kernel);
  return Names;
}

/// Selects the kernels that the user named, or all that have enough GPU time.
llvm::Error LimitsPipeline::choose() {
  std::vector<std::string> All;
  for (TracedKernel &K : tracedKernels(Trace)) {
    All.push_back(profileName(K.Kernel));
    bool Wanted = Options.Kernel.empty() ? K.Share >= State.Request.Options.LeastShare
                                         : isAskedFor(Options.Kernel, K.Kernel);
    if (!Wanted)
      continue;
    Report.Kernels.push_back({evidenceOf(K), {}, {}});
    Kernels.push_back(std::move(K));
  }
  if (!Kernels.empty())
    return llvm::Error::success();
  if (All.empty())
    return unsupported("no-kernels", "the program launched no kernel: there is nothing to explain");
  return usageError("carve explain: the program launched no kernel '" + Options.Kernel +
                    "', expected one of " + llvm::join(All, ", "));
}

llvm::Error LimitsPipeline::balance() {
  if (Trace.Devices.empty())
    return untraceable("the trace names no device");
  const DeviceInfo &D = Trace.Devices.front();
  auto Model = modelOf(D, Context.Options.DevicesDir);
  if (!Model)
    return Model.takeError();
  Report.Balance = balanceOf(*Model, {D.Name, D.Sms, D.ClockKHz, D.MemoryClockKHz, D.BusBits});
  Report.Program.SpanNs = double(Trace.SpanNs);
  Report.Program.BusyNs = double(Trace.BusyNs);
  for (const KernelLaunches &L : Trace.Kernels)
    Report.Program.Launches += L.Launches;
  return llvm::Error::success();
}

llvm::Error LimitsPipeline::count() {
  MetricsOptions Metrics;
  Metrics.Kernels = names();
  auto Counted = countOrAssume(Metrics, State, Trace, Context);
  if (!Counted) {
    std::string Reason;
    if (llvm::Error E = unlessInterrupted(Counted.takeError(), Reason))
      return E;
    Report.Notes.push_back("no code was counted: " + Reason);
    return llvm::Error::success();
  }
  ++Report.Runs;
  for (const KernelMetrics &M : Counted->Kernels)
    if (KernelEvidence *E = find(M.Kernel))
      takeCounts(M, *E);
  for (const MetricsReport::LeftOut &L : Counted->Left)
    if (KernelEvidence *E = find(L.Kernel))
      E->CountsReason = L.Reason.words();
  llvm::append_range(Report.Notes, Counted->Warnings);
  return llvm::Error::success();
}

llvm::Error LimitsPipeline::measure() {
  Report.CountersOff = !Options.Counters;
  Report.ModifiedOff = !Options.Modified;
  if (Options.Counters && Sources.Counters) {
    auto Counters = Sources.Counters(State, Kernels);
    if (!Counters) {
      if (llvm::Error E = unlessInterrupted(Counters.takeError(), Report.CountersRefused))
        return E;
    } else {
      Report.Runs += Counters->Runs;
      Report.CountersRefused = Counters->Refused;
      for (auto &[Kernel, C] : Counters->Kernels)
        if (KernelEvidence *E = find(Kernel))
          E->Counters = std::move(C);
    }
  }
  if (!Options.Modified || !Sources.Modified)
    return llvm::Error::success();
  auto Modified = Sources.Modified(State, Trace, Context, names());
  if (!Modified)
    return unlessInterrupted(Modified.takeError(), Report.ModifiedRefused);
  ++Report.Runs;
  for (auto &[Kernel, Times] : *Modified)
    if (KernelEvidence *E = find(Kernel))
      E->Modified = std::move(Times);
  return llvm::Error::success();
}

/// Adds what the last report tried. It may be about another program, another GPU or older code;
/// such parts are left out.
void LimitsPipeline::join(const TuningReport &Tuned) {
  const std::string &Device = Trace.Devices.front().Name;
  for (const KernelReport &K : Tuned.Kernels) {
    KernelEvidence *E = find(K.Mangled);
    if (!E)
      continue;
    if (Tuned.Device != Device) {
      Report.Notes.push_back("the last tuning was on " + Tuned.Device + ", this is " + Device +
                             ": the variants that it tried are left out");
      return;
    }
    if (!isSameCode(K, *E)) {
      Report.Notes.push_back(
          llvm::formatv("{0} had {1} registers in the last tuning and now has {2}: the variants "
                        "of that code are left out",
                        K.Kernel, K.RegsBefore, E->RegsPerThread));
      continue;
    }
    E->Tried = triedVariants(K);
    Report.TunedOn = Tuned.Date;
  }
}

llvm::Expected<LimitsReport> LimitsPipeline::run(const TuningReport *Tuned) {
  auto Traced = traceProgram(State);
  if (!Traced)
    return Traced.takeError();
  Trace = std::move(*Traced);
  Report.Workload = llvm::join(State.Request.Workload.Argv, " ");
  if (llvm::Error E = choose())
    return E;
  if (llvm::Error E = balance())
    return E;
  if (llvm::Error E = count())
    return E;
  if (llvm::Error E = measure())
    return E;
  if (Tuned)
    join(*Tuned);
  for (auto &[Kernel, Entries] : entriesInForce(Trace, Context.Store))
    if (KernelEvidence *E = find(Kernel))
      E->Entries = Entries;
  Report.Runs += State.Runs;
  for (KernelLimits &K : Report.Kernels) {
    K.Limit = findLimit(K.Evidence, Report.Balance, Report.Program);
    K.Findings = limitFindings(K.Evidence, Report.Balance, Report.Program, K.Limit);
  }
  return std::move(Report);
}

} // namespace

/// The words as they are given.
struct ExplainWords {
  std::vector<std::string> Kernels;
  unsigned Counters = 0, Modified = 0; ///< 1: off.
};

static Flags explainFlags(ExplainWords &W, ExplainOptions &O) {
  Flags F("carve explain");
  F.form("[options] [KERNEL]", "what became of every variant of a kernel, and why");
  F.form("[options] [KERNEL] -- COMMAND...",
         "what limits COMMAND's kernels: memory, instructions, latency");
  F.arguments("KERNEL", W.Kernels, "a part of the kernel's name; all kernels if it is not given");
  F.behind("COMMAND...", O.Command, "the program to run, and its arguments");
  F.text("--report", "FILE|latest", O.ReportFile, "the tuning's report, a JSON file");
  F.choice("--counters", {"auto", "off"}, W.Counters,
           "take hardware counters if the system permits them");
  F.choice("--modified", {"auto", "off"}, W.Modified,
           "time kernels without arithmetic, and without memory traffic, if that is safe");
  F.seconds("--timeout", "SECONDS", O.TimeoutS, "limit for one run of the program");
  F.text("--stdin", "FILE", O.StdinPath, "standard input of the program");
  F.choice("--format", {"text", "json"}, O.Json, "how it is printed; JSON has all the evidence");
  F.flag("--quiet", O.Quiet, "print the text without notes on how it was measured");
  return F;
}

llvm::Expected<ExplainOptions> carve::parseExplainOptions(llvm::ArrayRef<std::string> Args) {
  ExplainOptions O;
  ExplainWords W;
  if (llvm::Error E = explainFlags(W, O).parse(Args))
    return E;
  const std::vector<std::string> &Kernels = W.Kernels;
  if (Kernels.size() > 1)
    return usageError("carve explain: unexpected '" + Kernels[1] +
                      "', expected at most one kernel's name");
  O.Kernel = Kernels.empty() ? "" : Kernels.front();
  O.Counters = W.Counters == 0;
  O.Modified = W.Modified == 0;
  ExplainOptions Default;
  bool OfRun = !O.Counters || !O.Modified || O.TimeoutS != Default.TimeoutS ||
               O.StdinPath != Default.StdinPath || O.Quiet;
  if (O.Command.empty() && OfRun)
    return usageError("carve explain: --counters, --modified, --timeout, --stdin and --quiet need "
                      "a command, expected: carve explain [KERNEL] [options] -- COMMAND...");
  return O;
}

bool carve::isAskedFor(llvm::StringRef Name, llvm::StringRef Mangled) {
  return Mangled.contains(Name) || llvm::StringRef(profileName(Mangled)).contains(Name);
}

TuneRequest carve::explainRequest(const ExplainOptions &Options) {
  TuneRequest Request;
  Request.Workload.Argv = Options.Command;
  Request.Workload.TimeoutS = Options.TimeoutS;
  Request.Workload.StdinPath = Options.StdinPath;
  // A user who names a kernel wants it explained, however small its share is.
  if (!Options.Kernel.empty())
    Request.Options.LeastShare = 0;
  return Request;
}

llvm::Expected<LimitsReport> carve::explainLimits(const ExplainOptions &Options,
                                                  const TuneRequest &Request,
                                                  const TuningReport *Tuned,
                                                  const LimitSources &Sources, UnitStore &Store,
                                                  const Toolchain &T, CommandRunner &Runner) {
  TuneState State(Request, Runner);
  JobContext Context{Store, T, Runner, Request.Options, {}};
  return LimitsPipeline(Options, State, Context, Sources).run(Tuned);
}
