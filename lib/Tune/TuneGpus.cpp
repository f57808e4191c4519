#include "Tune/TuneGpus.h"

#include "Support/Error.h"
#include "Support/Log.h"
#include "Tune/InRun/SharedTiming.h"
#include "Tune/TuneTrace.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>
#include <thread>

using namespace carve;

/// Why the words of \p Request exclude each other.
static llvm::Error checkRequest(const TuneRequest &Request) {
  if (!Request.SamplesPath.empty())
    return usageError("--gpus and --samples exclude each other: recorded samples use no GPU");
  if (Request.OnGpus.maySeveral() && !Request.Workload.OutputFiles.empty())
    return usageError("--gpus with several GPUs and --output exclude each other: runs at once "
                      "would all write " +
                      Request.Workload.OutputFiles.front() + "; expected --gpus with one number");
  return llvm::Error::success();
}

static void leaveOut(TuneState &State, LeftGpu Left) {
  std::string Text = Left.Gpu + " is left out: " + Left.Why;
  logLine(Text);
  State.Progress.note(Text);
  State.LeftGpus.push_back(std::move(Left));
}

llvm::Error carve::chooseTunedGpus(TuneState &State) {
  const TuneRequest &Request = State.Request;
  if (!Request.OnGpus.given())
    return llvm::Error::success();
  if (llvm::Error E = checkRequest(Request))
    return E;
  llvm::Expected<std::vector<HostGpu>> Host = hostGpus(Request.Gpus);
  if (!Host)
    return Host.takeError();
  llvm::Expected<ChosenGpus> Chosen = chooseGpus(*Host, Request.OnGpus);
  if (!Chosen)
    return Chosen.takeError();
  for (LeftGpu &Left : Chosen->Left)
    leaveOut(State, std::move(Left));
  if (!State.timesInside() && Chosen->Used.size() > 1) {
    State.GpuNote =
        "only " + Chosen->Used.front().text() + " is used: whole runs time the variants";
    Chosen->Used.resize(1);
  }
  for (HostGpu &Gpu : Chosen->Used) {
    GpuPlaces Places = Request.Gpus;
    Places.Visible = Gpu.Uuid;
    auto Lock =
        std::make_unique<TimedGpus>(Places, llvm::join(Request.Workload.Argv, " "), State.Progress);
    State.Several.push_back({std::move(Gpu), std::move(Lock)});
  }
  return llvm::Error::success();
}

void carve::shareOut(TuneState &State, const TuningJob &Job) {
  std::vector<double> Shares;
  for (const JobKernel &K : Job.Kernels)
    Shares.push_back(K.Traced.Share);
  State.GpuOf = shareKernels(Shares, State.gpuCount());
}

void carve::runOnEach(size_t Gpus, llvm::function_ref<void(size_t)> Run) {
  std::vector<std::thread> Threads;
  for (size_t I = 1; I < Gpus; ++I)
    Threads.emplace_back([&Run, I] { Run(I); });
  Run(0); // The main thread handles signals, and a single GPU needs no other.
  for (std::thread &T : Threads)
    T.join();
}

std::vector<double> carve::commonNs(llvm::ArrayRef<RunRecord> Runs) {
  using Launched = std::pair<std::string, LaunchShape>;
  std::vector<std::map<Launched, std::pair<uint64_t, double>>> Known(Runs.size());
  for (size_t I = 0; I < Runs.size(); ++I)
    for (const KernelLaunches &L : Runs[I].Probe.Kernels) {
      auto &[Launches, Ns] = Known[I][{L.Kernel, L.Shape}];
      Launches += L.Launches;
      Ns += double(L.TotalNs);
    }
  std::vector<double> Sums(Runs.size(), 0);
  if (Runs.empty())
    return Sums;
  for (const auto &Entry : Known.front()) {
    bool Alike = llvm::all_of(Known, [&](const auto &Its) {
      auto Found = Its.find(Entry.first);
      return Found != Its.end() && Found->second.first == Entry.second.first;
    });
    for (size_t I = 0; I < Sums.size() && Alike; ++I)
      Sums[I] += Known[I].at(Entry.first).second;
  }
  return Sums;
}

/// The runs of the untouched program on all chosen GPUs. The first sees all of them, so that it
/// shows whether the program uses several.
static llvm::Expected<std::vector<RunRecord>> runOnAll(TuneState &State) {
  const size_t Gpus = State.Several.size();
  std::vector<std::string> Uuids;
  for (const TunedGpu &G : State.Several)
    Uuids.push_back(G.Gpu.Uuid);
  State.Request.Progress->runs(State.Runs, 0, State.seconds());
  std::vector<std::optional<llvm::Expected<RunRecord>>> Made(Gpus);
  runOnEach(Gpus, [&](size_t G) {
    WorkloadSpec Spec = State.workload(G);
    if (G == 0)
      Spec.Environment.back() = "CUDA_VISIBLE_DEVICES=" + llvm::join(Uuids, ",");
    Made[G].emplace(
        runWorkload(Spec, State.Request.Probe, {}, State.Runner, /*Stretch=*/{}, State.gpus(G)));
  });
  State.Runs += Gpus;
  std::vector<RunRecord> Runs;
  llvm::Error Failed = llvm::Error::success();
  for (std::optional<llvm::Expected<RunRecord>> &Run : Made)
    if (*Run)
      Runs.push_back(std::move(**Run));
    else
      Failed = llvm::joinErrors(std::move(Failed), Run->takeError());
  if (Failed)
    return Failed;
  return Runs;
}

/// Whether the first of the runs, which saw all GPUs, used more than one.
static bool usesSeveral(const ProbeRecord &Trace) {
  return Trace.Devices.size() > 1 || Trace.Hazards.count(HazardKind::Gpus) ||
         Trace.Hazards.count(HazardKind::Peer);
}

/// The GPU that the program chose of all, if it is not the first; its run there was then disturbed.
static const TunedGpu *chosenByProgram(const TuneState &State, const ProbeRecord &Trace) {
  for (const TunedGpu &G : llvm::drop_begin(State.Several))
    if (!Trace.Devices.empty() && Trace.Devices.front().Uuid == G.Gpu.Uuid)
      return &G;
  return nullptr;
}

/// Uses only the first GPU, for the reason \p Why. The program must be traced again.
static std::optional<RunRecord> useFirst(TuneState &State, const llvm::Twine &Why) {
  State.GpuNote = ("only " + State.Several.front().Gpu.text() + " is used: " + Why).str();
  State.Several.resize(1);
  return std::nullopt;
}

/// Leaves out the GPUs that were slower than the others in \p Runs. The fastest always stays.
static void leaveSlow(TuneState &State, std::vector<RunRecord> &Runs) {
  std::vector<std::pair<size_t, double>> Slow = slowGpus(commonNs(Runs));
  for (const auto &[G, Ratio] : Slow)
    leaveOut(State, {State.Several[G].Gpu.text(),
                     llvm::formatv("it is slow: the same launches took {0:f3} of the other GPUs' "
                                   "time, expected at most {1:f2}",
                                   Ratio, SlowGpuRatio)});
  for (const auto &[G, Ratio] : llvm::reverse(Slow)) {
    State.Several.erase(State.Several.begin() + G);
    Runs.erase(Runs.begin() + G);
  }
}

llvm::Expected<std::optional<RunRecord>> carve::traceOnSeveral(TuneState &State) {
  llvm::Expected<std::vector<RunRecord>> Runs = runOnAll(State);
  if (!Runs)
    return Runs.takeError();
  for (const RunRecord &Run : *Runs)
    if (Run.Interrupted)
      return interrupted(Run.Interrupted);
  if (usesSeveral(Runs->front().Probe)) {
    State.GpuNote = "the program uses several GPUs itself, so it was tuned as without --gpus";
    State.Several.clear();
    return std::nullopt;
  }
  for (auto [Run, On] : llvm::zip_equal(*Runs, State.Several))
    if (auto Why = whyUntraceable(Run, State.Request.Workload.TimeoutS))
      return useFirst(State, "of the runs that were made at once, the one on " + On.Gpu.text() +
                                 " failed: " + *Why);
  if (const TunedGpu *Its = chosenByProgram(State, Runs->front().Probe))
    return useFirst(State, "if the program sees several GPUs, it chooses " + Its->Gpu.text());
  // The first run saw all GPUs and may print how many there are. No later run sees them.
  for (const RunRecord &Run : llvm::drop_begin(*Runs))
    State.Check.reference().addDefault(Run.Output);
  leaveSlow(State, *Runs);
  return std::optional<RunRecord>(std::move(Runs->front()));
}
