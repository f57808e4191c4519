#include "Probe/Counters/HardwareCounters.h"

#include "Probe/Driver/ContextEndCalls.h"
#include "Probe/Driver/ContextEvent.h"
#include "Probe/Driver/ShapeRecord.h"
#include "Probe/Entry/TracedProcess.h"
#include "Probe/Memory/DeviceWork.h"

#include <algorithm>
#include <ctime>

using namespace carve::probe;

using std::chrono::milliseconds;

/// A kernel that is counted may wait for what the program does next: after this it goes on
/// uncounted.
static constexpr milliseconds EndLimit{10'000};
/// Launches that may fail to be counted, of each wish.
static constexpr uint64_t SpareLaunches = 4;

std::string carve::probe::startHardwareCounters(TracedProcess &P, const char *File) {
  CountPlan Wanted;
  if (!Wanted.read(File))
    return "metrics-unreadable";
  if (!P.Driver.CtxSynchronize || !P.Driver.CtxGetCurrent || !P.Driver.StreamIsCapturing)
    return "driver-incomplete";
  P.Tracing = false;
  P.Measuring = std::make_unique<HardwareCounters>(P, std::move(Wanted));
  return "";
}

HardwareCounters::HardwareCounters(TracedProcess &P, CountPlan W)
    : P(P), Wanted(std::move(W)), Hazards(P.Driver), States(Wanted.Wishes.size()) {
  Gated.insert(SubmissionGate::calls().begin(), SubmissionGate::calls().end());
  Launches.insert(LaunchCall::calls().begin(), LaunchCall::calls().end());
  if (!Api.load(P.Cupti.Library))
    giveUp("this CUPTI has no range profiler (it came with CUDA 12.6)");
}

HardwareCounters::~HardwareCounters() = default;

/// The launch that this thread is in and that is counted, from its entry to its exit.
std::unique_ptr<HardwareCounters::Measured> &HardwareCounters::mine() {
  static thread_local std::unique_ptr<Measured> Mine;
  return Mine;
}

std::vector<CUpti_CallbackId> HardwareCounters::calls() const {
  std::set<CUpti_CallbackId> All = Gated;
  All.insert(Launches.begin(), Launches.end());
  All.insert(ReplayHazards::calls().begin(), ReplayHazards::calls().end());
  All.insert(std::begin(ContextEndCalls), std::end(ContextEndCalls));
  return {All.begin(), All.end()};
}

void HardwareCounters::onCall(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  bool Entry = Call.callbackSite == CUPTI_API_ENTER, IsGated = Gated.count(Id);
  if (Entry && IsGated)
    Gate.enter();
  Hazards.note(Id, Call);
  bool Ends = std::find(std::begin(ContextEndCalls), std::end(ContextEndCalls), Id) !=
              std::end(ContextEndCalls);
  if (Entry && Ends && !P.Finishing)
    disableAll();
  if (Launches.count(Id) && Call.functionParams)
    Entry ? onLaunch(Id, Call) : onLaunched(Call);
  if (!Entry && IsGated)
    Gate.leave();
}

void HardwareCounters::onResource(CUpti_CallbackId Id, const CUpti_ResourceData &Resource) {
  if (Id != CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
    return;
  // CUPTI must not be called about it any more.
  std::lock_guard<std::mutex> Guard(Lock);
  Sessions.erase(Resource.context);
}

void HardwareCounters::disableAll() {
  if (Stuck)
    return;
  std::lock_guard<std::mutex> Guard(Lock);
  for (auto &[Context, Session] : Sessions)
    Session->disable();
}

void HardwareCounters::finish() {
  Over = true;
  // Where a launch is being counted still, the process ends with it.
  if (!Gate.close(GateLimit))
    return;
  disableAll();
  Gate.open();
}

void HardwareCounters::giveUp(const std::string &Why) {
  Over = true;
  P.recordOnce(recordLine({"uncounted", Why}));
}

void HardwareCounters::unmeasured(const Measured &M, const std::string &Why) {
  const CountPlan::Wish &W = Wanted.Wishes[M.Wish];
  P.File.append(launchRecord("unmeasured", W.Kernel, W.Shape, M.Launch, {Why}));
}

/// Whether \p Launch is one of those to be counted.
bool HardwareCounters::wants(const LaunchCall &Launch, Measured &M) {
  const char *Name = *Launch.Slot ? kernelName(P.Driver, *Launch.Slot) : nullptr;
  if (!Name)
    return false;
  std::lock_guard<std::mutex> Guard(Lock);
  for (M.Wish = 0; M.Wish < States.size(); ++M.Wish) {
    const CountPlan::Wish &W = Wanted.Wishes[M.Wish];
    LaunchShape Shape = Launch.Shape;
    // A kernel may demand its cluster itself.
    if (Shape.Cluster == std::array<uint32_t, 3>{1, 1, 1})
      Shape.Cluster = W.Shape.Cluster;
    if (W.Kernel != Name || W.Shape != Shape)
      continue;
    WishState &S = States[M.Wish];
    M.Launch = S.Seen++;
    bool Wants = M.Launch >= W.First && S.Done < W.Launches && S.Tried < W.Launches + SpareLaunches;
    S.Tried += Wants;
    return Wants;
  }
  return false;
}

std::string HardwareCounters::whyNot(const LaunchCall &Launch, CUcontext Context) const {
  CUstreamCaptureStatus Status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (Hazards.capturing() || P.Driver.StreamIsCapturing(Launch.Stream, &Status) != CUDA_SUCCESS ||
      Status != CU_STREAM_CAPTURE_STATUS_NONE)
    return "the program was recording a CUDA graph";
  CUcontext Current = nullptr;
  if (P.Driver.CtxGetCurrent(&Current) != CUDA_SUCCESS || Current != Context)
    return "its stream is of another context";
  return "";
}

/// Polls first: waiting for the whole context would never end where a kernel waits for what the
/// program does next.
std::string HardwareCounters::waitIdle(CUcontext Context, milliseconds Limit) const {
  ContextEvent Event(P.Driver);
  auto Begin = std::chrono::steady_clock::now();
  while (!Event.passed(Context)) {
    if (std::chrono::steady_clock::now() - Begin > Limit)
      return "kernels did not end within " + std::to_string(Limit.count()) + " ms";
    timespec Pause{0, 20'000};
    ::nanosleep(&Pause, nullptr);
  }
  CUresult Result = P.Driver.CtxSynchronize();
  return Result == CUDA_SUCCESS ? "" : "the context is broken";
}

void HardwareCounters::onLaunch(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  mine().reset();
  if (Over)
    return;
  std::optional<LaunchCall> Launch = LaunchCall::decode(Id, Call.functionParams);
  Measured M;
  if (!Launch || !wants(*Launch, M))
    return;
  M.Context = Call.context;
  CaptureRelaxed Relaxed(P.Driver);
  std::string Why = whyNot(*Launch, Call.context);
  bool Closed = Why.empty() && Gate.close(GateLimit);
  if (Why.empty() && !Closed)
    Why = "other threads' calls were under way";
  // One may have begun a capture before the gate closed.
  if (Why.empty())
    Why = whyNot(*Launch, Call.context);
  if (Why.empty())
    Why = waitIdle(Call.context, IdleLimit);
  if (Why.empty())
    Why = begin(M);
  if (Why.empty()) {
    mine() = std::make_unique<Measured>(M);
    return;
  }
  unmeasured(M, Why);
  if (Closed)
    Gate.open();
}

/// The counters that \p Passes has, for the tuner.
void HardwareCounters::describe(const MetricPasses &Passes) {
  std::string Metrics;
  if (Wanted.Pass < Passes.passes().size())
    for (const std::string &Metric : Passes.passes()[Wanted.Pass])
      Metrics += (Metrics.empty() ? "" : ",") + Metric;
  P.recordOnce(
      recordLine({"metrics", Passes.chip(), std::to_string(Wanted.Pass),
                  std::to_string(Passes.passes().size()), Metrics.empty() ? "-" : Metrics}));
  for (const auto &[Metric, Reason] : Passes.left())
    P.recordOnce(recordLine({"no-metric", Passes.chip(), Metric, Reason}));
}

/// What of the counters this process may have on the device of the current context. Without it
/// CUPTI takes all that the chip has for available.
static std::string availability(const ProfilerApi &Api, std::vector<uint8_t> &Image) {
  CUpti_Profiler_GetCounterAvailability_Params Available{};
  Available.structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE;
  if (CUptiResult R = Api.GetCounterAvailability(&Available); R != CUPTI_SUCCESS)
    return profilerFailure("cuptiProfilerGetCounterAvailability", R);
  Image.resize(Available.counterAvailabilityImageSize);
  Available.pCounterAvailabilityImage = Image.data();
  if (CUptiResult R = Api.GetCounterAvailability(&Available); R != CUPTI_SUCCESS)
    return profilerFailure("cuptiProfilerGetCounterAvailability", R);
  return "";
}

std::string HardwareCounters::setUp(uint32_t Device, DevicePass &Pass) {
  if (!Initialized) {
    CUpti_Profiler_Initialize_Params Init{};
    Init.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE;
    if (CUptiResult R = Api.Initialize(&Init); R != CUPTI_SUCCESS)
      return profilerFailure("cuptiProfilerInitialize", R);
    Initialized = true;
  }
  CUpti_Profiler_DeviceSupported_Params Support{};
  Support.structSize = CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE;
  Support.cuDevice = CUdevice(Device);
  Support.api = CUPTI_PROFILER_RANGE_PROFILING;
  if (CUptiResult R = Api.DeviceSupported(&Support); R != CUPTI_SUCCESS)
    return profilerFailure("cuptiProfilerDeviceSupported", R);
  if (Support.isSupported != CUPTI_PROFILER_CONFIGURATION_SUPPORTED)
    return profilerFailure("cuptiProfilerDeviceSupported", CUPTI_ERROR_NOT_SUPPORTED);
  CUpti_Device_GetChipName_Params Chip{};
  Chip.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE;
  Chip.deviceIndex = Device;
  if (CUptiResult R = Api.GetChipName(&Chip); R != CUPTI_SUCCESS || !Chip.pChipName)
    return profilerFailure("cuptiDeviceGetChipName", R);
  std::vector<uint8_t> Image;
  if (std::string Why = availability(Api, Image); !Why.empty())
    return Why;
  Pass.Passes = std::make_unique<MetricPasses>(Api, Chip.pChipName, std::move(Image));
  std::string Why = Pass.Passes->part(Wanted.Metrics);
  if (!Why.empty())
    return Why;
  describe(*Pass.Passes);
  if (Wanted.Pass >= Pass.Passes->passes().size())
    return "";
  Pass.Images = std::make_unique<PassImages>(*Pass.Passes);
  bool Unknown = false;
  return Pass.Images->make(Pass.Passes->passes()[Wanted.Pass], Unknown);
}

/// The gate is closed, and the context idle.
std::string HardwareCounters::begin(Measured &M) {
  uint32_t Device = 0;
  if (P.Cupti.GetDeviceId(M.Context, &Device) != CUPTI_SUCCESS)
    return "its device is unknown";
  P.Used.note(Device);
  auto [At, New] = Devices.try_emplace(Device);
  if (New)
    if (std::string Why = setUp(Device, At->second); !Why.empty()) {
      giveUp(Why);
      return Why;
    }
  if (!At->second.Images) {
    Over = true;
    return "there is no such pass";
  }
  {
    std::lock_guard<std::mutex> Guard(Lock);
    std::unique_ptr<CounterSession> &Session = Sessions[M.Context];
    if (!Session)
      Session = std::make_unique<CounterSession>(Api, M.Context, *At->second.Images);
    M.Session = Session.get();
  }
  std::string Why = M.Session->begin(Kind);
  if (Why.empty() || KindWorks)
    return Why;
  // This CUPTI may not make ranges of kernels by itself. Then the other kind tells, too.
  if (Kind == RangeKind::Kernel) {
    Kind = RangeKind::Span;
    M.Session->abandon();
    Why = M.Session->begin(Kind);
  }
  if (!Why.empty())
    giveUp(Why);
  return Why;
}

/// \p Value with six decimals, in no locale and without libm; empty where it is no count.
static std::string decimal(double Value) {
  constexpr double Most = 1e18;
  constexpr uint64_t Millions = 1'000'000;
  if (!(Value >= 0 && Value < Most))
    return "";
  auto Whole = uint64_t(Value);
  auto Rest = uint64_t((Value - double(Whole)) * double(Millions));
  return std::to_string(Whole) + "." + std::to_string(Millions + Rest).substr(1);
}

/// What became of the launch: its counters are written, or the reason is returned.
std::string HardwareCounters::measure(const Measured &M, const CUpti_CallbackData &Call) {
  auto *Result = static_cast<const CUresult *>(Call.functionReturnValue);
  if (Result && *Result != CUDA_SUCCESS) {
    M.Session->abandon();
    return "the driver refused the launch";
  }
  if (std::string Why = waitIdle(M.Context, EndLimit); !Why.empty()) {
    // Neither may CUPTI wait for what does not end, nor be asked about a broken context.
    Stuck = true;
    giveUp("while " + Wanted.Wishes[M.Wish].Kernel + " was counted, " + Why);
    return Why;
  }
  std::vector<double> Values;
  if (std::string Why = M.Session->end(Values); !Why.empty()) {
    if (!KindWorks && Kind == RangeKind::Span)
      giveUp(Why);
    if (!KindWorks)
      Kind = RangeKind::Span;
    return Why;
  }
  KindWorks = true;
  const CountPlan::Wish &W = Wanted.Wishes[M.Wish];
  std::string Lines;
  for (size_t I = 0; I < Values.size(); ++I) {
    std::string Text = decimal(Values[I]);
    if (Text.empty())
      continue;
    Lines += launchRecord(
        "measured", W.Kernel, W.Shape, M.Launch,
        {Kind == RangeKind::Kernel ? "kernel" : "span", M.Session->metrics()[I], Text});
  }
  P.File.append(Lines);
  settle(M);
  return "";
}

/// Where that was the last launch wanted, the counters go back, and the rest of the program runs
/// as ever.
void HardwareCounters::settle(const Measured &M) {
  bool Done = true;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    ++States[M.Wish].Done;
    for (size_t I = 0; I < States.size(); ++I)
      Done &= States[I].Done >= Wanted.Wishes[I].Launches;
  }
  if (!Done)
    return;
  Over = true;
  disableAll();
}

void HardwareCounters::onLaunched(const CUpti_CallbackData &Call) {
  std::unique_ptr<Measured> M = std::move(mine());
  if (!M)
    return;
  CaptureRelaxed Relaxed(P.Driver);
  if (std::string Why = measure(*M, Call); !Why.empty())
    unmeasured(*M, Why);
  Gate.open();
}
