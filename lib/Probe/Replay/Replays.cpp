#include "Probe/Replay/Replays.h"

#include "Probe/Driver/ContextEvent.h"
#include "Probe/Driver/MemoryCalls.h"
#include "Probe/Entry/TracedProcess.h"
#include "Probe/Memory/DeviceWork.h"
#include "Probe/Process/HostMemory.h"

#include <algorithm>
#include <ctime>

using namespace carve::probe;

using Clock = std::chrono::steady_clock;

/// Beside each run: restoring, comparing, flushing the cache.
static constexpr double RunOverheadNs = 50'000;
static constexpr double Unlimited = 1e18;

ReplayBudget::ReplayBudget(const Plan &Wanted)
    : LeftNs(Wanted.ReplayMs ? double(Wanted.ReplayMs) * 1e6 : Unlimited) {
  for (const auto &[Name, Kernel] : Wanted.Kernels) {
    if (Kernel.Mode == TimingMode::Rotate)
      continue;
    bool Timed = Kernel.Mode == TimingMode::Replay;
    for (const PlannedShape &Shape : Kernel.Shapes)
      WeightLeft += leastNs(Kernel, Shape, Timed) * (Timed && Shape.Launches >= 2 ? 2 : 1);
  }
}

double ReplayBudget::leastNs(const PlannedKernel &Kernel, const PlannedShape &Shape, bool Timed) {
  double Variants = double(Kernel.variants());
  double Runs = 4 + Variants; // The default's and one of each.
  if (Timed)
    Runs += 2 * (ReplaySchedule::MinScreenRounds * Variants + ReplaySchedule::MinConfirmRounds * 4);
  return Runs * (Shape.MeanNs + RunOverheadNs);
}

double ReplayBudget::grant(const PlannedKernel &Kernel, const PlannedShape &Shape,
                           bool Timed) const {
  double Least = leastNs(Kernel, Shape, Timed);
  if (Least > LeftNs)
    return 0;
  // What is expected may be too little; what others leave is for all.
  return std::max(Least, WeightLeft > 0 ? LeftNs * Least / WeightLeft : LeftNs);
}

void ReplayBudget::spent(const PlannedKernel &Kernel, const PlannedShape &Shape, bool Timed,
                         double Ns) {
  LeftNs = std::max(0.0, LeftNs - Ns);
  WeightLeft = std::max(0.0, WeightLeft - leastNs(Kernel, Shape, Timed));
}

Replays::Replays(TracedProcess &P, const Plan &Wanted, Watchdog &Dog)
    : P(P), Dog(Dog), Memory(&P.Driver), Hazards(P.Driver), Budget(Wanted) {
  auto Note = [&](const std::vector<CUpti_CallbackId> &Calls, Concern Whose) {
    for (CUpti_CallbackId Id : Calls) {
      Concerns.resize(std::max(Concerns.size(), size_t(Id) + 1));
      Concerns[Id] |= Whose;
    }
  };
  Note(SubmissionGate::calls(), Gating);
  Note(callsThatNeedMemory(), NeedingMemory);
  Note(DeviceMemory::calls(), Allocating);
  Note(ModuleGlobals::calls(), Globally);
  Note(ReplayHazards::calls(), Capturing);
  Note(unknownMemoryCalls(P.Cupti), Concern(Gating | Unknown));
  // Opens what it reads, while files may be opened.
  (void)availableHostBytes();
}

std::vector<CUpti_CallbackId> Replays::calls() const {
  std::set<CUpti_CallbackId> All(KernelHandles::calls().begin(), KernelHandles::calls().end());
  for (size_t Id = 0; Id < Concerns.size(); ++Id)
    if (Concerns[Id])
      All.insert(static_cast<CUpti_CallbackId>(Id));
  return {All.begin(), All.end()};
}

void Replays::note(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  bool Entry = Call.callbackSite == CUPTI_API_ENTER;
  uint8_t Whose = Id < Concerns.size() ? Concerns[Id] : 0;
  if (Entry && Whose & Gating)
    Gate.enter();
  if (Whose & Unknown)
    UnknownCall = true;
  if (Entry && Whose & NeedingMemory)
    releaseMemory(Id);
  if (Call.functionParams && Whose & Allocating)
    Memory.note(Id, Call);
  if (Call.functionParams && Whose & Globally)
    Globals.note(Id, Call);
  if (Call.functionParams && Whose & Capturing)
    Hazards.note(Id, Call);
  if (!Entry && Whose & Gating)
    Gate.leave();
}

void Replays::onResource(CUpti_CallbackId Id, const CUpti_ResourceData &Resource) {
  switch (Id) {
  case CUPTI_CBID_RESOURCE_STREAM_CREATED:
    return Hazards.streamCreated(Resource.context, Resource.resourceHandle.stream);
  case CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING:
    return Hazards.streamDestroyed(Resource.context, Resource.resourceHandle.stream);
  case CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING: {
    Hazards.contextDestroyed(Resource.context);
    Memory.dropContext(Resource.context);
    Globals.contextDestroyed(Resource.context);
    std::lock_guard<std::mutex> Guard(Lock);
    Contexts.erase(Resource.context);
    return;
  }
  default:
    return;
  }
}

bool Replays::onKernel(const CUpti_ActivityKernel10 &Record, bool Planned) {
  StreamRecords *Records = nullptr;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    for (ReplayContext *Context : All)
      if (Context->ContextId == Record.contextId && Context->StreamId == Record.streamId)
        Records = &Context->Records;
  }
  // Kernels of Snapshot run there, too.
  if (Records && Planned)
    Records->add({Record.name, Record.start, Record.end});
  return Records != nullptr;
}

void Replays::releaseMemory(CUpti_CallbackId Id) {
  std::vector<ReplayContext *> Held;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    for (const auto &[Handle, Context] : Contexts)
      Held.push_back(Context);
  }
  for (ReplayContext *Context : Held)
    releaseForProgram(Id, *Context->Memory);
}

std::string Replays::hazard(const ReplayTarget &Target) const {
  if (!P.Cupti.GetContextId || !P.Cupti.GetStreamIdEx || !P.Driver.copies())
    return "driver-incomplete";
  if (Memory.peers())
    return "peer";
  if (Memory.surfaces())
    return "array";
  if (UnknownCall)
    return "memory-call";
  CUgreenCtx Green = nullptr;
  if (P.Driver.StreamGetGreenCtx && Target.Call.Stream != CU_STREAM_LEGACY &&
      Target.Call.Stream != CU_STREAM_PER_THREAD &&
      P.Driver.StreamGetGreenCtx(Target.Call.Stream, &Green) == CUDA_SUCCESS && Green)
    return "green-context";
  return Hazards.arguments(Target.Call, Target.Kernel, Memory);
}

namespace {
class ClosedGate {
public:
  explicit ClosedGate(SubmissionGate &Gate) : Gate(Gate), Closed(Gate.close(GateLimit)) {}
  ClosedGate(const ClosedGate &) = delete;
  ClosedGate &operator=(const ClosedGate &) = delete;
  ~ClosedGate() {
    if (Closed)
      Gate.open();
  }
  bool closed() const { return Closed; }

private:
  SubmissionGate &Gate;
  bool Closed;
};
} // namespace

Replays::Outcome Replays::replay(ReplayTarget &Target, CUcontext Context) {
  if (Hazards.capturing())
    return {"capture", /*Again=*/true, {}};
  CaptureRelaxed Relaxed(P.Driver);
  if (std::string Why = hazard(Target); !Why.empty())
    return {Why, /*Again=*/false, {}};
  ClosedGate Closed(Gate);
  if (!Closed.closed())
    return {"busy", /*Again=*/true, {}};
  const PlannedKernel &Kernel = *Target.Kernel.Planned;
  Target.BudgetNs = Budget.grant(Kernel, Target.Shape, Target.Timed);
  if (Target.BudgetNs == 0)
    return {"budget", /*Again=*/false, {}};
  auto Begin = Clock::now();
  Outcome Result = replayGated(Target, Context);
  if (!Result.Again)
    Budget.spent(Kernel, Target.Shape, Target.Timed,
                 double(std::chrono::nanoseconds(Clock::now() - Begin).count()));
  return Result;
}

/// Polls first: waiting for the whole context would never end where a kernel waits for what the
/// program does next.
bool Replays::waitIdle(const ReplayTarget &Target, CUcontext Context, std::string &Why) {
  ContextEvent Event(P.Driver);
  auto Begin = Clock::now();
  while (!Hazards.idle(Context) || !Event.passed(Context)) {
    if (Clock::now() - Begin > IdleLimit) {
      Why = "busy";
      return false;
    }
    timespec Pause{0, 20'000};
    ::nanosleep(&Pause, nullptr);
  }
  // Drivers without such events leave the default streams of other threads, which have no handle
  // that could be asked.
  Dog.expect(Target.HangMs, Target.Kernel.Planned->Name, 0);
  CUresult Result = P.Driver.CtxSynchronize();
  Dog.done();
  if (Result != CUDA_SUCCESS)
    Why = errorName(P.Driver, Result);
  return Result == CUDA_SUCCESS;
}

Replays::Outcome Replays::replayGated(ReplayTarget &Target, CUcontext Context) {
  std::string Why;
  if (Hazards.capturing())
    return {"capture", /*Again=*/true, {}};
  if (!waitIdle(Target, Context, Why))
    return {Why, /*Again=*/true, {}};
  Replay::Ranges Of;
  Why = ranges(Target, Context, Of);
  if (!Why.empty())
    return {Why, /*Again=*/false, {}};
  ReplayContext *Own = contextFor(Context);
  if (!Own)
    return {"stream", /*Again=*/false, {}};
  // Priority, persisting cache and the like. A default stream has none.
  if (P.Driver.StreamCopyAttributes)
    (void)P.Driver.StreamCopyAttributes(Own->Stream, Target.Call.Stream);
  (void)Dog.takeNotes();
  Replay One(P.Driver, Dog, *Own, Target);
  Replay::Result Done = One.run(std::move(Of));
  P.File.append(Dog.takeNotes());
  return {Done.StoodBack, Done.Again, std::move(Done.Rejected)};
}

/// Memory of other contexts and devices is not for our kernels to read. The program's reach it only
/// where it shares addresses with this context, as that of green contexts does.
static bool isSaved(const MemoryRange &Range, CUcontext Context, CUdevice Device) {
  if (Range.Kind == MemoryKind::Mapped)
    return Range.Device < 0 || Range.Device == Device;
  return !hazardOfKind(Range.Kind) && Range.Context == Context;
}

/// A reason that goes with the first of \p Pointed that an argument leads to.
static std::string reachedBy(const ReplayTarget &Target, const std::vector<MemoryRange> &Pointed) {
  for (const MemoryRange &Range : Pointed)
    if (reaches(Target.Call, Target.Kernel, {Range})) {
      const char *Hazard = hazardOfKind(Range.Kind);
      return Hazard ? Hazard : "other-context";
    }
  return "";
}

std::string Replays::ranges(const ReplayTarget &Target, CUcontext Context,
                            Replay::Ranges &Of) const {
  CUdevice Device = 0;
  if (P.Driver.CtxGetDevice(&Device) != CUDA_SUCCESS)
    return "device-unknown";
  for (const MemoryRange &Range : Memory.ranges())
    (isSaved(Range, Context, Device) ? Of.Saved : Of.Pointed).push_back(Range);
  CUmodule Module = nullptr;
  if (P.Driver.FuncGetModule(&Module, Target.Kernel.Function) != CUDA_SUCCESS)
    return "module-unknown";
  std::vector<MemoryRange> Variables;
  std::string Why =
      Globals.addTo(Variables, P.Driver, {Target.Kernel.Planned->Name, Module, Context},
                    /*Constants=*/!Of.Pointed.empty());
  if (!Why.empty())
    return Why;
  for (const MemoryRange &Range : Variables)
    (hazardOfKind(Range.Kind) ? Of.Pointed : Of.Saved).push_back(Range);
  if (Why = guarded(Device, Of); !Why.empty())
    return Why;
  return reachedBy(Target, Of.Pointed);
}

/// Under which address kernels reach the host memory at \p Host, which may be another one where it
/// is write-combined; 0 where they do not.
static CUdeviceptr addressForKernels(const DriverApi &Driver, CUdeviceptr Host) {
  CUdeviceptr Address = 0, Base = 0;
  size_t Bytes = 0;
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  auto *Pointer = reinterpret_cast<void *>(Host);
  if (Driver.MemHostGetDevicePointer &&
      Driver.MemHostGetDevicePointer(&Address, Pointer, 0) == CUDA_SUCCESS)
    return Address;
  // Of a pool, or mapped.
  return Driver.MemGetAddressRange(&Base, &Bytes, Host) == CUDA_SUCCESS ? Host : 0;
}

/// Host memory and managed memory, under the addresses that kernels have for it.
std::string Replays::guarded(CUdevice Device, Replay::Ranges &Of) const {
  int Concurrent = 0;
  (void)P.Driver.DeviceGetAttribute(&Concurrent, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS,
                                    Device);
  std::vector<MemoryRange> Others;
  for (MemoryRange Range : Of.Pointed) {
    if (Range.Kind == MemoryKind::Managed) {
      // Elsewhere only the stream that it is attached to may touch it.
      if (!Concurrent)
        return "managed";
      Of.Guarded.push_back(Range);
    } else if (Range.Kind == MemoryKind::Host) {
      CUdeviceptr ForKernels = addressForKernels(P.Driver, Range.Base);
      if (!ForKernels)
        continue;
      bool Elsewhere = ForKernels != Range.Base;
      Range.Base = ForKernels;
      Of.Guarded.push_back(Range);
      if (Elsewhere)
        Others.push_back(Range);
    }
  }
  Of.Pointed.insert(Of.Pointed.end(), Others.begin(), Others.end());
  return "";
}

ReplayContext *Replays::contextFor(CUcontext Context) {
  {
    std::lock_guard<std::mutex> Guard(Lock);
    if (auto It = Contexts.find(Context); It != Contexts.end())
      return It->second;
  }
  auto New = std::make_unique<ReplayContext>();
  if (P.Driver.StreamCreate(&New->Stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS ||
      P.Cupti.GetContextId(Context, &New->ContextId) != CUPTI_SUCCESS ||
      P.Cupti.GetStreamIdEx(Context, New->Stream, /*perThreadStream=*/0, &New->StreamId) !=
          CUPTI_SUCCESS)
    return nullptr;
  New->Clock = std::make_unique<ReplayClock>(P, New->Stream, New->Records);
  New->Memory = std::make_unique<Snapshot>(P);
  std::lock_guard<std::mutex> Guard(Lock);
  All.push_back(New.get());
  return Contexts[Context] = New.release();
}
