#include "Probe/Counters/HardwareCounters.h"

#include "Probe/Driver/ContextEvent.h"
#include "Probe/Driver/KernelSignature.h"
#include "Protocol/CountRecords.h"

#include <algorithm>
#include <ctime>

using namespace carve;
using namespace carve::probe;

using std::chrono::milliseconds;

/// A kernel that is counted may wait for what the program does next. After this time it goes on
/// uncounted.
static constexpr milliseconds EndLimit{10'000};
/// The number of launches of each wish that may fail to be counted.
static constexpr uint64_t SpareLaunches = 4;

Failure carve::probe::startHardwareCounters(const char *Path, const CuptiApi &Cupti,
                                            const DriverApi &Driver, RecordFile &File,
                                            Devices &Used, Submissions &Submitted,
                                            std::unique_ptr<ProbeMode> &Mode) {
  CountPlan Wanted;
  if (!Wanted.read(Path))
    return Failure("metrics-unreadable");
  if (!Driver.CtxSynchronize || !Driver.CtxGetCurrent || !Driver.StreamIsCapturing)
    return Failure("driver-incomplete");
  Mode =
      std::make_unique<HardwareCounters>(Cupti, Driver, File, Used, Submitted, std::move(Wanted));
  return Failure::none();
}

HardwareCounters::HardwareCounters(const CuptiApi &Cupti, const DriverApi &Driver, RecordFile &File,
                                   Devices &Used, Submissions &Submitted, CountPlan W)
    : Cupti(Cupti), Driver(Driver), File(File), Used(Used), Submitted(Submitted),
      Wanted(std::move(W)), Dog(Driver, File),
      ByNode(Cupti, Driver, File, Submitted, kernelsOf(Wanted.Wishes), Dog),
      States(Wanted.Wishes.size()) {
  if (!Api.load(Cupti.Library))
    giveUp(Failure("this CUPTI has no range profiler (it came with CUDA 12.6)"));
}

std::set<CUpti_CallbackId> HardwareCounters::resources() const {
  return {CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING};
}

/// The counted launch in which this thread is, from its entry to its exit.
std::unique_ptr<HardwareCounters::Measured> &HardwareCounters::mine() {
  static thread_local std::unique_ptr<Measured> Mine;
  return Mine;
}

void HardwareCounters::onCall(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  Roles Means = rolesOf(Id);
  bool Entry = Call.callbackSite == CUPTI_API_ENTER;
  ByNode.onCall(Id, Call);
  if (Entry && Means.any(Role::EndsContext) && !Finishing)
    disableAll();
  if (Means.any(LaunchCall::Calls) && Call.functionParams)
    Entry ? onLaunch(Id, Call) : onLaunched(Call);
}

void HardwareCounters::onResource(CUpti_CallbackId Id, const CUpti_ResourceData &Resource) {
  if (Id != CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
    return;
  ByNode.contextDestroyed(Resource.context);
  // CUPTI must not be called for this context any more.
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
  // If a launch is still being counted, the counters are not given back; they end with the process.
  if (!Submitted.Gate.close(GateLimit))
    return;
  disableAll();
  Submitted.Gate.open();
}

void HardwareCounters::giveUp(const Failure &Why) {
  Over = true;
  File.addOnce(UncountedRecord{Why.reason()});
}

void HardwareCounters::unmeasured(const Measured &M, const Failure &Why) {
  const CountWish &W = Wanted.Wishes[M.Wish];
  File.add(UnmeasuredRecord{{W.Kernel, W.Shape, M.Launch}, Why.reason()});
}

/// Returns whether \p Launch is one of those to be counted.
bool HardwareCounters::wants(const LaunchCall &Launch, Measured &M) {
  const char *Name = *Launch.Slot ? kernelName(Driver, *Launch.Slot) : nullptr;
  if (!Name)
    return false;
  std::lock_guard<std::mutex> Guard(Lock);
  for (M.Wish = 0; M.Wish < States.size(); ++M.Wish) {
    const CountWish &W = Wanted.Wishes[M.Wish];
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

Failure HardwareCounters::whyNot(const LaunchCall &Launch, CUcontext Context) const {
  if (Submitted.Captures.any() || isCapturing(Driver, Launch.Stream))
    return Failure("the program was recording a CUDA graph");
  CUcontext Current = nullptr;
  if (Driver.CtxGetCurrent(&Current) != CUDA_SUCCESS || Current != Context)
    return Failure("its stream is of another context");
  return Failure::none();
}

/// Waits until \p Context is idle. It polls first, because a wait for the whole context would never
/// end if a kernel waits for what the program does next.
Failure HardwareCounters::waitIdle(CUcontext Context, milliseconds Limit) const {
  ContextEvent Event(Driver);
  auto Begin = std::chrono::steady_clock::now();
  while (!Event.passed(Context)) {
    if (std::chrono::steady_clock::now() - Begin > Limit)
      return Failure("kernels did not end within " + std::to_string(Limit.count()) + " ms");
    timespec Pause{0, 20'000};
    ::nanosleep(&Pause, nullptr);
  }
  CUresult Result = Driver.CtxSynchronize();
  return Result == CUDA_SUCCESS ? Failure::none() : Failure("the context is broken");
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
  CaptureRelaxed Relaxed(Driver);
  Failure Why = whyNot(*Launch, Call.context);
  bool Closed = !Why && Submitted.Gate.close(GateLimit);
  if (!Why && !Closed)
    Why = Failure("other threads' calls were under way");
  // Another thread may have begun a capture before the gate closed.
  if (!Why)
    Why = whyNot(*Launch, Call.context);
  if (!Why)
    Why = waitIdle(Call.context, IdleLimit);
  if (!Why)
    Why = begin(M);
  if (!Why) {
    mine() = std::make_unique<Measured>(M);
    return;
  }
  unmeasured(M, Why);
  if (Closed)
    Submitted.Gate.open();
}

/// Records the counters of \p Passes for the tuner.
void HardwareCounters::describe(const MetricPasses &Passes) {
  std::string Metrics;
  if (Wanted.Pass < Passes.passes().size())
    for (const std::string &Metric : Passes.passes()[Wanted.Pass])
      Metrics += (Metrics.empty() ? "" : ",") + Metric;
  File.addOnce(MetricsRecord{Passes.chip(), unsigned(Wanted.Pass), unsigned(Passes.passes().size()),
                             Metrics.empty() ? "-" : Metrics});
  for (const auto &[Metric, Reason] : Passes.left())
    File.addOnce(NoMetricRecord{Passes.chip(), Metric, Reason});
}

/// Asks which counters this process may use on the device of the current context. Without that
/// CUPTI takes all counters of the chip as available.
static Failure availability(const ProfilerApi &Api, std::vector<uint8_t> &Image) {
  CUpti_Profiler_GetCounterAvailability_Params Available{};
  Available.structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE;
  if (CUptiResult R = Api.GetCounterAvailability(&Available); R != CUPTI_SUCCESS)
    return profilerFailure("cuptiProfilerGetCounterAvailability", R);
  Image.resize(Available.counterAvailabilityImageSize);
  Available.pCounterAvailabilityImage = Image.data();
  if (CUptiResult R = Api.GetCounterAvailability(&Available); R != CUPTI_SUCCESS)
    return profilerFailure("cuptiProfilerGetCounterAvailability", R);
  return Failure::none();
}

Failure HardwareCounters::setUp(uint32_t Device, DevicePass &Pass) {
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
  if (Failure Why = availability(Api, Image))
    return Why;
  Pass.Passes = std::make_unique<MetricPasses>(Api, Chip.pChipName, std::move(Image));
  Failure Why = Pass.Passes->part(Wanted.Metrics);
  if (Why)
    return Why;
  describe(*Pass.Passes);
  if (Wanted.Pass >= Pass.Passes->passes().size())
    return Failure::none();
  Pass.Images = std::make_unique<PassImages>(*Pass.Passes);
  bool Unknown = false;
  return Pass.Images->make(Pass.Passes->passes()[Wanted.Pass], Unknown);
}

/// Begins to count. The gate must be closed and the context idle.
Failure HardwareCounters::begin(Measured &M) {
  uint32_t Device = 0;
  if (Cupti.GetDeviceId(M.Context, &Device) != CUPTI_SUCCESS)
    return Failure("its device is unknown");
  Used.note(Device);
  auto [At, New] = PerDevice.try_emplace(Device);
  if (New)
    if (Failure Why = setUp(Device, At->second)) {
      giveUp(Why);
      return Why;
    }
  if (!At->second.Images) {
    Over = true;
    return Failure("there is no such pass");
  }
  {
    std::lock_guard<std::mutex> Guard(Lock);
    std::unique_ptr<CounterSession> &Session = Sessions[M.Context];
    if (!Session)
      Session = std::make_unique<CounterSession>(Api, M.Context, *At->second.Images);
    M.Session = Session.get();
  }
  Failure Why = M.Session->begin(Kind);
  if (!Why || KindWorks)
    return Why;
  // This CUPTI may be unable to make ranges of kernels by itself. Then the other kind is used.
  if (Kind == RangeKind::Kernel) {
    Kind = RangeKind::Span;
    M.Session->abandon();
    Why = M.Session->begin(Kind);
  }
  if (Why)
    giveUp(Why);
  return Why;
}

/// Ends the counting of a launch. Either writes its counters or returns the reason why there are
/// none.
Failure HardwareCounters::measure(const Measured &M, const CUpti_CallbackData &Call) {
  auto *Result = static_cast<const CUresult *>(Call.functionReturnValue);
  if (Result && *Result != CUDA_SUCCESS) {
    M.Session->abandon();
    return Failure("the driver refused the launch");
  }
  if (Failure Why = waitIdle(M.Context, EndLimit)) {
    // CUPTI must neither wait for a kernel that does not end nor be asked about a broken context.
    Stuck = true;
    giveUp(Failure("while " + Wanted.Wishes[M.Wish].Kernel + " was counted, " + Why.reason()));
    return Why;
  }
  std::vector<double> Values;
  if (Failure Why = M.Session->end(Values)) {
    if (!KindWorks && Kind == RangeKind::Span)
      giveUp(Why);
    if (!KindWorks)
      Kind = RangeKind::Span;
    return Why;
  }
  KindWorks = true;
  const CountWish &W = Wanted.Wishes[M.Wish];
  std::string Lines;
  for (size_t I = 0; I < Values.size(); ++I) {
    if (Values[I] >= 0 && Values[I] < MostFraction)
      Lines += recordLine(CountedMetric{W.Kernel, W.Shape, M.Launch, Kind == RangeKind::Span,
                                        M.Session->metrics()[I], Values[I]});
  }
  File.append(Lines);
  settle(M);
  return Failure::none();
}

/// If that was the last launch wanted, gives the counters back; the rest of the program runs as
/// usual.
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
  CaptureRelaxed Relaxed(Driver);
  if (Failure Why = measure(*M, Call))
    unmeasured(*M, Why);
  Submitted.Gate.open();
}
