#include "Metrics/CountedMetrics.h"
#include "Cubin/Assembler.h"
#include "Metrics/Counts/CodeCounts.h"
#include "Metrics/Counts/PtxCounts.h"
#include "Protocol/Protocol.h"
#include "Ptx/ProfileName.h"
#include "Support/Error.h"
#include "Tune/Job/DeviceLinks.h"
#include "Tune/TuneState.h"
#include "Tune/TuneTrace.h"
#include "Tune/WholeRuns/JobImages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace carve;

namespace {

/// With this many registers per thread an SM can hold all its threads, and a block can have its
/// maximum size. No image is made with fewer.
constexpr unsigned RegsOfFullSm = 32;
/// Registers are allocated to threads in steps of this size.
constexpr unsigned RegsStep = 8;
constexpr unsigned MostRegs = 255;

class CountPipeline {
public:
  CountPipeline(const MetricsOptions &Options, TuneState &State, const JobContext &Context)
      : Options(Options), State(State), Context(Context) {}
  llvm::Expected<MetricsReport> run(const ProbeRecord &Trace);
  /// Does the same, but takes the metrics of a kernel that is not counted from its code with
  /// assumed trips.
  llvm::Expected<MetricsReport> runOrAssume(const ProbeRecord &Trace);

private:
  bool isWanted(const std::string &Kernel) const;
  void leave(size_t Kernel, const StayReason &Reason);
  EntryEdit withinRegisters(const JobKernel &K) const;
  llvm::Error addCounters(size_t Module);
  void makeImages();
  llvm::Expected<ProbeRecord> runCounting();
  llvm::Error prepare(const ProbeRecord &Trace);
  bool anyWanted() const;
  llvm::Error assume(size_t Kernel);
  llvm::Error measure();
  llvm::Error measure(size_t Module, const ProbeRecord &Counted);
  llvm::Expected<KernelMetrics> metricsOf(const JobKernel &K, size_t Module, TripCounts Trips,
                                          const Assembled &Plain) const;

  const MetricsOptions &Options;
  TuneState &State;
  const JobContext &Context;
  JobSources Sources;
  TuningJob Job;
  JobBuild Built;
  std::map<size_t, CountingPtx> Counting; ///< By the index of the module in the job.
  std::map<size_t, KernelMetrics> Found;  ///< By the index of the kernel in the job.
  MetricsReport Report;
};

std::string variableOf(size_t Module) { return "__carve_counts_" + std::to_string(Module); }

bool CountPipeline::isWanted(const std::string &Kernel) const {
  return Options.Kernels.empty() || llvm::any_of(Options.Kernels, [&](llvm::StringRef Name) {
           return isNameOf(Name, Kernel);
         });
}

void CountPipeline::leave(size_t Kernel, const StayReason &Reason) {
  StayReason &Left = Built.Kernels[Kernel].LeftReason;
  if (!Left.empty())
    return;
  Left = Reason;
  Report.Left.push_back({Job.Kernels[Kernel].Traced.Kernel, Reason});
}

/// Returns the cap with which every launch that the kernel had is possible with its counters, too.
EntryEdit CountPipeline::withinRegisters(const JobKernel &K) const {
  unsigned Regs = RegsOfFullSm;
  for (const KernelLaunches &L : K.Traced.Shapes)
    Regs = std::max<unsigned>(Regs, llvm::alignTo(L.RegsPerThread, RegsStep));
  EntryEdit Edit;
  Edit.RegisterCap = std::min(Regs, MostRegs);
  return Edit;
}

/// Makes the module's image with counters in the wanted kernels.
llvm::Error CountPipeline::addCounters(size_t Module) {
  const JobModule &M = Job.Modules[Module];
  const PtxModule &Ptx = Sources.of(Module).Ptx;
  std::vector<std::string> Entries;
  llvm::StringMap<EntryEdit> Edits;
  for (size_t K : M.Kernels) {
    if (!Built.Kernels[K].LeftReason.empty())
      continue;
    Entries.push_back(Job.Kernels[K].Traced.Kernel);
    Edits[Entries.back()] = withinRegisters(Job.Kernels[K]);
  }
  if (Entries.empty())
    return llvm::Error::success();
  auto Text = Ptx.withEdits(Edits);
  if (!Text)
    return Text.takeError();
  auto Edited = PtxModule::parse(std::move(*Text));
  if (!Edited)
    return Edited.takeError();
  auto Made = withBlockCounters(*Edited, Entries, variableOf(Module), probe::CounterCopies);
  if (!Made)
    return Made.takeError();
  auto Image =
      assemble(Context.T, Context.Runner, Made->Text, M.Image.PtxasOptions, M.Image.PtxName);
  if (!Image)
    return Image.takeError();
  Built.Modules[Module].Cubin = std::move(Image->CubinBytes);
  Counting[Module] = std::move(*Made);
  return llvm::Error::success();
}

/// Makes the images of all modules. The kernels of a module without an image are left out.
void CountPipeline::makeImages() {
  for (size_t M = 0; M < Job.Modules.size(); ++M)
    if (llvm::Error E = addCounters(M)) {
      std::string Why =
          llvm::StringRef(llvm::toString(std::move(E))).ltrim().split('\n').first.str();
      for (size_t K : Job.Modules[M].Kernels)
        leave(K, StayReason(Why));
    }
  for (size_t M : linkKernelVariants(Job, Sources, Context, Built))
    for (size_t K : Job.Modules[M].Kernels)
      leave(K, KnownReason::DeviceLinkFailed);
}

/// Runs the program with counters and returns what the probe recorded.
llvm::Expected<ProbeRecord> CountPipeline::runCounting() {
  auto Fail = [](const llvm::Twine &Why) { return unsupported("not counted", Why); };
  auto Dir = TempDir::create("carve-count");
  if (!Dir)
    return Dir.takeError();
  auto Images =
      placeImages(Job, Built, TuningScope::Kernel, Assignment(Job.Kernels.size(), 0), Dir->path());
  if (!Images)
    return Images.takeError();
  ProbeSetup Probe = State.Request.Probe;
  for (const auto &[Module, Ptx] : Counting)
    Probe.Counters.push_back(variableOf(Module));
  const WorkloadSpec &Workload = State.Request.Workload;
  auto Run = runWorkload(Workload, Probe, *Images, State.Runner, /*Stretch=*/{}, State.gpus());
  if (!Run)
    return Run.takeError();
  if (Run->Interrupted)
    return interrupted(Run->Interrupted);
  if (Run->TimedOut)
    return Fail("with counters the program ran longer than " +
                std::to_string(int(Workload.TimeoutS)) + " s");
  for (const auto &[Digest, Reason] : Run->Probe.Unswapped)
    return Fail("an image could not be replaced: " + Reason);
  if (auto Why = Run->Probe.whyIncomplete(); Why && Run->succeeded())
    return Fail(*Why);
  if (!Run->Probe.Uncounted.empty())
    return Fail(*Run->Probe.Uncounted.begin());
  auto Difference = State.Check.difference(Run->Output);
  if (!Difference)
    return Difference.takeError();
  if (*Difference)
    Report.Warnings.push_back("with counters, " + **Difference);
  return std::move(Run->Probe);
}

llvm::Expected<KernelMetrics> CountPipeline::metricsOf(const JobKernel &K, size_t Module,
                                                       TripCounts Trips,
                                                       const Assembled &Plain) const {
  const std::string &Name = K.Traced.Kernel;
  KernelMetrics Result;
  Result.Kernel = Name;
  Result.Arch = Job.Modules[Module].Image.Arch;
  Result.Shape = heaviestShape(K.Traced);
  auto Ptx = countPtxKernel(Sources.of(Module).Ptx, Name, Trips, Result.Shape.Block[0]);
  if (!Ptx)
    return Ptx.takeError();
  Result.Ptx = std::move(*Ptx);
  Trips.OfPtx = Result.Ptx->Loops;
  if (auto Code = countCodeKernel(Plain.CubinBytes, Name, Trips))
    Result.Code = std::move(*Code);
  else
    Result.CodeReason = llvm::toString(Code.takeError());
  auto Resources =
      llvm::find_if(Plain.Kernels, [&](const KernelResources &R) { return R.Name == Name; });
  if (Resources == Plain.Kernels.end())
    return malformed("ptxas' report has no kernel " + Name);
  Result.Metrics = staticMetrics(Job.Model, *Resources, Result.Shape, Result.Ptx->Counts);
  return Result;
}

/// Adds the metrics of the kernels of \p Module. A kernel in several modules gets those of the
/// module in which most of its threads ran.
llvm::Error CountPipeline::measure(size_t Module, const ProbeRecord &Counted) {
  auto Counts = Counted.Counted.find(variableOf(Module));
  if (Counts == Counted.Counted.end())
    return llvm::Error::success();
  const JobModule &M = Job.Modules[Module];
  const PtxModule &Ptx = Sources.of(Module).Ptx;
  auto Plain = assemble(Context.T, Context.Runner, Ptx.text(), M.Image.PtxasOptions);
  if (!Plain)
    return Plain.takeError();
  RunsByFunction Runs = Counting.at(Module).runs(Counts->second);
  for (size_t Index : M.Kernels) {
    const JobKernel &K = Job.Kernels[Index];
    auto Body = readPtxFunction(Ptx.definitionOf(K.Traced.Kernel));
    if (!Body)
      return Body.takeError();
    uint64_t Threads = 0;
    if (auto Its = Runs.find(K.Traced.Kernel); Its != Runs.end())
      Threads = static_cast<uint64_t>(countedFlow(*Body, Its->second).Calls);
    if (!Built.Kernels[Index].LeftReason.empty() || Threads <= Found[Index].CountedThreads)
      continue;
    TripCounts Trips = tripCountsFor(Options, K.Traced.Kernel);
    Trips.Runs = Runs;
    auto Metrics = metricsOf(K, Module, std::move(Trips), *Plain);
    if (!Metrics)
      return Metrics.takeError();
    Metrics->CountedThreads = Threads;
    Found[Index] = std::move(*Metrics);
  }
  return llvm::Error::success();
}

llvm::Error CountPipeline::measure() {
  auto Counted = runCounting();
  if (!Counted)
    return Counted.takeError();
  for (const auto &[Module, Ptx] : Counting)
    if (llvm::Error E = measure(Module, *Counted))
      return E;
  for (size_t K = 0; K < Job.Kernels.size(); ++K)
    if (Found[K].CountedThreads)
      Report.Kernels.push_back(std::move(Found[K]));
    else
      leave(K, StayReason("did not run with counters"));
  return llvm::Error::success();
}

bool CountPipeline::anyWanted() const {
  return llvm::any_of(Built.Kernels, [](const KernelBuild &K) { return K.LeftReason.empty(); });
}

llvm::Error CountPipeline::prepare(const ProbeRecord &Trace) {
  Report.Counted = true;
  auto Made = prepareJob(Trace, Context, /*AllUnits=*/false, Sources);
  if (!Made)
    return Made.takeError();
  Job = std::move(*Made);
  Built = JobBuild(Job);
  for (const LeftKernel &L : Job.Left)
    if (isWanted(L.Traced.Kernel) && L.Reason != KnownReason::BelowShare)
      Report.Left.push_back({L.Traced.Kernel, L.Reason});
  // Kernels that nobody asked for are in no list.
  for (auto [K, Its] : llvm::zip_equal(Job.Kernels, Built.Kernels))
    if (!isWanted(K.Traced.Kernel))
      Its.LeftReason = StayReason("not asked for");
  if (!Job.Modules.empty())
    Report.NvccVersion = Job.Modules.front().Source.NvccVersion;
  return llvm::Error::success();
}

llvm::Expected<MetricsReport> CountPipeline::run(const ProbeRecord &Trace) {
  if (llvm::Error E = prepare(Trace))
    return E;
  makeImages();
  if (anyWanted())
    if (llvm::Error E = measure())
      return E;
  return std::move(Report);
}

/// Adds the metrics of the unchanged code of \p Kernel.
llvm::Error CountPipeline::assume(size_t Kernel) {
  const JobKernel &K = Job.Kernels[Kernel];
  if (K.Modules.empty())
    return llvm::Error::success();
  size_t Module = K.Modules.front();
  const UnitImage &Image = Job.Modules[Module].Image;
  auto Plain =
      assemble(Context.T, Context.Runner, Sources.of(Module).Ptx.text(), Image.PtxasOptions);
  if (!Plain)
    return Plain.takeError();
  auto Metrics = metricsOf(K, Module, tripCountsFor(Options, K.Traced.Kernel), *Plain);
  if (!Metrics)
    return Metrics.takeError();
  Report.Kernels.push_back(std::move(*Metrics));
  return llvm::Error::success();
}

llvm::Expected<MetricsReport> CountPipeline::runOrAssume(const ProbeRecord &Trace) {
  if (llvm::Error E = prepare(Trace))
    return E;
  std::set<size_t> Unwanted;
  for (size_t K = 0; K < Job.Kernels.size(); ++K)
    if (!Built.Kernels[K].LeftReason.empty())
      Unwanted.insert(K);
  makeImages();
  llvm::Error Failed = anyWanted() ? measure() : llvm::Error::success();
  llvm::Error Rest = llvm::handleErrors(
      std::move(Failed), [&](const Unsupported &Why) { Report.Warnings.push_back(Why.message()); });
  if (Rest)
    return Rest;
  for (size_t K = 0; K < Job.Kernels.size(); ++K)
    if (!Found[K].CountedThreads && !Unwanted.count(K))
      if (llvm::Error E = assume(K))
        Report.Warnings.push_back(profileName(Job.Kernels[K].Traced.Kernel) + ": " +
                                  llvm::toString(std::move(E)));
  return std::move(Report);
}

} // namespace

TuneRequest carve::countRequest(const MetricsOptions &Options) {
  TuneRequest Request;
  Request.Workload.Argv = Options.NvccOptions;
  Request.Workload.TimeoutS = Options.TimeoutS;
  Request.Workload.StdinPath = Options.StdinPath;
  // A user who names a kernel wants it, no matter how short it runs.
  if (!Options.Kernels.empty())
    Request.Options.LeastShare = 0;
  return Request;
}

llvm::Expected<MetricsReport> carve::countOrAssume(const MetricsOptions &Options, TuneState &State,
                                                   const ProbeRecord &Trace,
                                                   const JobContext &Context) {
  return CountPipeline(Options, State, Context).runOrAssume(Trace);
}

llvm::Expected<MetricsReport> carve::countMetrics(const MetricsOptions &Options,
                                                  const TuneRequest &Request, UnitStore &Store,
                                                  const Toolchain &T, CommandRunner &Runner) {
  TuneState State(Request, Runner);
  JobContext Context{Store, T, Runner, Request.Options, {}};
  auto Trace = traceProgram(State);
  if (!Trace)
    return Trace.takeError();
  auto Report = CountPipeline(Options, State, Context).run(*Trace);
  if (!Report)
    return Report;
  for (const std::string &Name : Options.Kernels)
    if (llvm::none_of(Report->Kernels,
                      [&](const KernelMetrics &K) { return isNameOf(Name, K.Kernel); }) &&
        llvm::none_of(Report->Left, [&](const auto &L) { return isNameOf(Name, L.Kernel); }))
      return usageError("--kernel: the program launched no kernel `" + Name + "`");
  if (llvm::Error E = checkAnnotations(Options, *Report, "the counted kernels"))
    return E;
  return Report;
}
