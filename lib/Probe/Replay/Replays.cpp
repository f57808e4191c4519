#include "Probe/Replay/Replays.h"

#include "Probe/Driver/ContextEvent.h"
#include "Probe/Driver/MemoryCalls.h"
#include "Probe/Process/HostMemory.h"

#include <algorithm>
#include <ctime>

using namespace carve;
using namespace carve::probe;

using Clock = std::chrono::steady_clock;

/// The time besides each run: for restoring, comparing and flushing the cache.
static constexpr double RunOverheadNs = 50'000;
static constexpr double Unlimited = 1e18;

ReplayBudget::ReplayBudget(const Plan &Wanted)
    : WholeNs(Wanted.ReplayMs ? double(Wanted.ReplayMs) * 1e6 : Unlimited), LeftNs(WholeNs) {
  for (const auto &[Name, Kernel] : Wanted.Kernels) {
    if (!isReplayed(Kernel.Mode))
      continue;
    bool Timed = Kernel.Mode == TimingMode::Replay;
    for (const PlannedShape &Shape : Kernel.Shapes)
      WeightLeft += leastNs(Kernel, Shape, Timed) * (Timed && Shape.isTimedTwice() ? 2 : 1);
  }
}

double ReplayBudget::leastNs(const PlannedKernel &Kernel, const PlannedShape &Shape, bool Timed) {
  double Variants = 0;
  for (size_t V = 0; V < Kernel.Variants.size(); ++V)
    Variants += Kernel.mayRunIn(V, Shape.Shape);
  double Runs = 4 + Variants; // The runs of the default, and one run of each variant.
  // Two show what a launch without warm times finds in L2.
  if (Timed && !Shape.hasWarmTimes())
    Runs += 2;
  // A warm time takes up to two more runs.
  if (Timed)
    Runs += (Shape.hasWarmTimes() ? 3 : 1) * double(Shape.leastRuns(size_t(Variants)));
  return Runs * (double(Shape.MeanNs) + RunOverheadNs);
}

double ReplayBudget::grant(const PlannedKernel &Kernel, const PlannedShape &Shape,
                           bool Timed) const {
  // Where other kernels took longer than expected, the last ones are not left out for it.
  constexpr double OverdraftShare = 0.5;
  double Least = leastNs(Kernel, Shape, Timed);
  if (Least > LeftNs + OverdraftShare * WholeNs)
    return 0;
  // The expected time may be too short, and what other replays leave over is shared by all.
  return std::max(Least, WeightLeft > 0 ? LeftNs * Least / WeightLeft : LeftNs);
}

void ReplayBudget::spent(const PlannedKernel &Kernel, const PlannedShape &Shape, bool Timed,
                         double Ns) {
  tried(Ns);
  WeightLeft = std::max(0.0, WeightLeft - leastNs(Kernel, Shape, Timed));
}

static std::set<CUpti_CallbackId> asSet(const std::vector<CUpti_CallbackId> &Calls) {
  return {Calls.begin(), Calls.end()};
}

Replays::Replays(const CuptiApi &Cupti, const DriverApi &Driver, Submissions &Submitted,
                 const Plan &Wanted, Watchdog &Dog)
    : Cupti(Cupti), Driver(Driver), Submitted(Submitted), Dog(Dog),
      UnknownCalls(asSet(unknownMemoryCalls(Cupti))), Memory(Submitted.Captures, &Driver),
      Hazards(Driver), Budget(Wanted) {
  // This call opens the files that it reads, while files may still be opened.
  (void)availableHostBytes();
}

void Replays::note(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  bool Entry = Call.callbackSite == CUPTI_API_ENTER;
  Roles Means = rolesOf(Id);
  if (Means.any(Role::Unfollowed) || (Means.empty() && UnknownCalls.count(Id) > 0))
    Unfollowed = true;
  if (Entry && Means.any(Role::NeedsMemory))
    releaseMemory(Id);
  if (Call.functionParams && Means.any(DeviceMemory::Calls))
    Memory.note(Id, Call);
  if (Call.functionParams && Means.any(ModuleGlobals::Calls))
    Globals.note(Id, Call);
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
  // Kernels of Snapshot run on this stream, too.
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

Failure Replays::hazard(const ReplayTarget &Target) const {
  if (!Cupti.GetContextId || !Cupti.GetStreamIdEx || !Driver.copies())
    return Failure("driver-incomplete");
  if (Memory.peers())
    return Failure("peer");
  if (Memory.surfaces())
    return Failure("array");
  if (Unfollowed)
    return Failure("memory-call");
  CUgreenCtx Green = nullptr;
  if (Driver.StreamGetGreenCtx && Target.Call.Stream != CU_STREAM_LEGACY &&
      Target.Call.Stream != CU_STREAM_PER_THREAD &&
      Driver.StreamGetGreenCtx(Target.Call.Stream, &Green) == CUDA_SUCCESS && Green)
    return Failure("green-context");
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

Replay::Result Replays::replay(ReplayTarget &Target, CUcontext Context) {
  if (Submitted.Captures.any())
    return {Failure::forNow("capture"), {}};
  CaptureRelaxed Relaxed(Driver);
  if (Failure Why = hazard(Target))
    return {Why, {}};
  ClosedGate Closed(Submitted.Gate);
  if (!Closed.closed())
    return {Failure::forNow("busy"), {}};
  const PlannedKernel &Kernel = *Target.Kernel.Planned;
  Target.BudgetNs = Budget.grant(Kernel, Target.Shape, Target.Timed);
  if (Target.BudgetNs == 0)
    return {Failure("budget"), {}};
  auto Begin = Clock::now();
  Replay::Result Result = replayGated(Target, Context);
  double Ns = double(std::chrono::nanoseconds(Clock::now() - Begin).count());
  if (Result.StoodBack.isForNow())
    Budget.tried(Ns);
  else
    Budget.spent(Kernel, Target.Shape, Target.Timed, Ns);
  return Result;
}

/// Waits until \p Context is idle. It polls first, because a wait for the whole context would never
/// end if a kernel waits for what the program does next.
Failure Replays::waitIdle(const ReplayTarget &Target, CUcontext Context) {
  ContextEvent Event(Driver);
  auto Begin = Clock::now();
  while (!Hazards.idle(Context) || !Event.passed(Context)) {
    if (Clock::now() - Begin > IdleLimit)
      return Failure::forNow("busy");
    timespec Pause{0, 20'000};
    ::nanosleep(&Pause, nullptr);
  }
  // A driver without such events cannot tell about the default streams of other threads, which have
  // no handle.
  Dog.expect(Target.HangMs, Target.Kernel.Planned->Name, DefaultVariant);
  CUresult Result = Driver.CtxSynchronize();
  Dog.done();
  return Result == CUDA_SUCCESS ? Failure::none() : Failure::forNow(errorName(Driver, Result));
}

Replay::Result Replays::replayGated(ReplayTarget &Target, CUcontext Context) {
  if (Submitted.Captures.any())
    return {Failure::forNow("capture"), {}};
  if (Failure Why = waitIdle(Target, Context))
    return {Why, {}};
  Replay::Ranges Of;
  if (Failure Why = ranges(Target, Context, Of))
    return {Why, {}};
  ReplayContext *Own = contextFor(Context);
  if (!Own)
    return {Failure("stream"), {}};
  // These are the priority, the persisting cache and the like. A default stream has none.
  if (Driver.StreamCopyAttributes)
    (void)Driver.StreamCopyAttributes(Own->Stream, Target.Call.Stream);
  Replay One(Driver, Dog, *Own, Target);
  Replay::Result Done = One.run(std::move(Of));
  Dog.writeNotes();
  return Done;
}

/// Returns whether memory is saved. The probe's kernels must not read memory of other contexts and
/// devices. The program's kernels reach it only if it shares addresses with this context, as the
/// memory of green contexts does.
static bool isSaved(const MemoryRange &Range, CUcontext Context, CUdevice Device) {
  if (Range.Kind == MemoryKind::Mapped)
    return Range.Device < 0 || Range.Device == Device;
  return !hazardOfKind(Range.Kind) && Range.Context == Context;
}

/// Fails with the reason that belongs to the first of \p Pointed to which an argument leads.
static Failure reachedBy(const ReplayTarget &Target, const std::vector<MemoryRange> &Pointed) {
  const std::vector<size_t> Reached = reachedOf(Target.Call, Target.Kernel, Pointed);
  if (Reached.empty())
    return Failure::none();
  const char *Hazard = hazardOfKind(Pointed[Reached.front()].Kind);
  return Failure(Hazard ? Hazard : "other-context");
}

Failure Replays::ranges(const ReplayTarget &Target, CUcontext Context, Replay::Ranges &Of) const {
  CUdevice Device = 0;
  if (Driver.CtxGetDevice(&Device) != CUDA_SUCCESS)
    return Failure("device-unknown");
  for (const MemoryRange &Range : Memory.ranges())
    (isSaved(Range, Context, Device) ? Of.Saved : Of.Pointed).push_back(Range);
  if (Target.Timed && Target.Shape.hasWarmTimes())
    for (size_t I : reachedOf(Target.Call, Target.Kernel, Of.Saved))
      // Kernels may be allowed only to read what is mapped.
      if (Of.Saved[I].Kind != MemoryKind::Mapped)
        Of.ArgumentMemory.push_back(I);
  CUmodule Module = nullptr;
  if (Driver.FuncGetModule(&Module, Target.Kernel.Function) != CUDA_SUCCESS)
    return Failure("module-unknown");
  std::vector<MemoryRange> All, Variables;
  const ModuleGlobals::Place Where{Target.Kernel.Planned->Name, Module, Context};
  if (Failure Why = Globals.addTo(All, Driver, Where))
    return Why;
  for (const MemoryRange &Range : All)
    (hazardOfKind(Range.Kind) ? Of.Pointed : Variables).push_back(Range);
  Failure Why = guarded(Device, Of);
  if (!Why)
    Why = constants(Target, Where, Variables, Of);
  if (Why)
    return Why;
  Of.Saved.insert(Of.Saved.end(), Variables.begin(), Variables.end());
  return reachedBy(Target, Of.Pointed);
}

/// Whether there is an address of memory that cannot be saved in \p Constant. Fails if it cannot be
/// read.
Failure Replays::leadsTo(const std::vector<MemoryRange> &Pointed, const MemoryRange &Constant,
                         bool &Leads) const {
  std::vector<char> Content(Constant.Bytes);
  if (!Driver.MemcpyDtoH ||
      Driver.MemcpyDtoH(Content.data(), Constant.Base, Content.size()) != CUDA_SUCCESS)
    return Failure("module-variables");
  Leads = holdAddress(Content.data(), Content.size(), Pointed);
  return Failure::none();
}

/// Takes \p Range out of \p Variables. If the program has asked where a variable is, but not for
/// its size, the variable is taken to go on to the end of the module's memory, with what is behind
/// it.
static void cutOut(const MemoryRange &Range, std::vector<MemoryRange> &Variables) {
  std::vector<MemoryRange> Left;
  const CUdeviceptr End = Range.Base + Range.Bytes;
  for (const MemoryRange &V : Variables) {
    const CUdeviceptr ItsEnd = V.Base + V.Bytes;
    if (ItsEnd <= Range.Base || V.Base >= End) {
      Left.push_back(V);
      continue;
    }
    MemoryRange Part = V;
    if (Part.Bytes = Range.Base - std::min(V.Base, Range.Base); Part.Bytes > 0)
      Left.push_back(Part);
    Part.Base = End;
    if (Part.Bytes = ItsEnd - std::min(ItsEnd, End); Part.Bytes > 0)
      Left.push_back(Part);
  }
  Variables = std::move(Left);
}

/// Decides which constants count, if there is memory to which they may lead. A kernel gets at a
/// constant by its name, or by its address. One that it names is searched for addresses like the
/// variables. One that it does not name may hold an address of the host all the same, which a
/// library keeps there. Then it counts like that memory: if its address is found in the memory that
/// is searched, the kernel may follow it. If an argument leads to it, it is searched, too.
Failure Replays::constants(const ReplayTarget &Target, const ModuleGlobals::Place &Where,
                           std::vector<MemoryRange> &Variables, Replay::Ranges &Of) const {
  if (Of.Pointed.empty())
    return Failure::none();
  std::vector<MemoryRange> Named, Unnamed, Leading;
  if (Failure Why =
          Globals.findConstants(Named, Unnamed, Driver, Where, Target.Kernel.Planned->Constants))
    return Why;
  for (const MemoryRange &Range : Unnamed) {
    bool Leads = false;
    // Memory of the program may be where a constant was whose module is gone.
    if (Memory.find(Range.Base))
      continue;
    if (Failure Why = leadsTo(Of.Pointed, Range, Leads))
      return Why;
    if (!Leads)
      continue;
    if (!reachedOf(Target.Call, Target.Kernel, {Range}).empty()) {
      Named.push_back(Range);
      continue;
    }
    cutOut(Range, Variables);
    Leading.push_back(Range);
  }
  for (const MemoryRange &Range : Named) {
    cutOut(Range, Variables);
    Variables.push_back(Range);
  }
  Of.Pointed.insert(Of.Pointed.end(), Leading.begin(), Leading.end());
  return Failure::none();
}

/// Returns the address by which kernels reach the host memory at \p Host, or 0 if they do not. For
/// write-combined memory it may be another address.
static CUdeviceptr addressForKernels(const DriverApi &Driver, CUdeviceptr Host) {
  CUdeviceptr Address = 0, Base = 0;
  size_t Bytes = 0;
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  auto *Pointer = reinterpret_cast<void *>(Host);
  if (Driver.MemHostGetDevicePointer &&
      Driver.MemHostGetDevicePointer(&Address, Pointer, 0) == CUDA_SUCCESS)
    return Address;
  // The memory comes from a pool or is mapped.
  return Driver.MemGetAddressRange(&Base, &Bytes, Host) == CUDA_SUCCESS ? Host : 0;
}

/// Adds host memory and managed memory, with the addresses by which kernels reach them.
Failure Replays::guarded(CUdevice Device, Replay::Ranges &Of) const {
  int Concurrent = 0;
  (void)Driver.DeviceGetAttribute(&Concurrent, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS,
                                  Device);
  std::vector<MemoryRange> Others;
  for (MemoryRange Range : Of.Pointed) {
    if (Range.Kind == MemoryKind::Managed) {
      // On other devices only the stream to which it is attached may touch it.
      if (!Concurrent)
        return Failure("managed");
      Of.Guarded.push_back(Range);
    } else if (Range.Kind == MemoryKind::Host) {
      CUdeviceptr ForKernels = addressForKernels(Driver, Range.Base);
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
  return Failure::none();
}

ReplayContext *Replays::contextFor(CUcontext Context) {
  {
    std::lock_guard<std::mutex> Guard(Lock);
    if (auto It = Contexts.find(Context); It != Contexts.end())
      return It->second;
  }
  auto New = std::make_unique<ReplayContext>();
  if (Driver.StreamCreate(&New->Stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS ||
      Cupti.GetContextId(Context, &New->ContextId) != CUPTI_SUCCESS ||
      Cupti.GetStreamIdEx(Context, New->Stream, /*perThreadStream=*/0, &New->StreamId) !=
          CUPTI_SUCCESS)
    return nullptr;
  New->Clock = std::make_unique<ReplayClock>(Driver, New->Stream, New->Records);
  New->Memory = std::make_unique<Snapshot>(Driver);
  std::lock_guard<std::mutex> Guard(Lock);
  All.push_back(New.get());
  return Contexts[Context] = New.release();
}
