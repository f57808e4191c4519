#include "Probe/Replay/PlannedRun.h"

#include "Probe/Driver/CallbackScope.h"
#include "Probe/Driver/StreamCaptures.h"
#include "Probe/Trace/Activity.h"
#include "Protocol/RecordWriter.h"

#include <algorithm>
#include <utility>

using namespace carve;
using namespace carve::probe;

namespace {
/// The program's rotated or dispatched launch in which this thread is, or one beside the rotation.
struct ChangedLaunch {
  const PlannedShape *Shape = nullptr;
  size_t Variant = 0;
  Rotation *Beside = nullptr;
};
} // namespace

static thread_local ChangedLaunch ThisLaunch;

Failure carve::probe::startPlannedRun(const char *Path, const CuptiApi &Cupti,
                                      const DriverApi &Driver, RecordFile &File,
                                      Submissions &Submitted, std::unique_ptr<ProbeMode> &Mode) {
  Plan Wanted;
  if (!Wanted.read(Path))
    return Failure("plan-unreadable");
  if (!Driver.canLaunch())
    return Failure("driver-incomplete");
  Mode = std::make_unique<PlannedRun>(Cupti, Driver, File, Submitted, std::move(Wanted));
  return Failure::none();
}

/// Returns the kernels of \p Wanted that are timed.
static NodeKernels timedKernels(const Plan &Wanted) {
  NodeKernels Timed;
  Timed.HangMs = Wanted.HangMs;
  for (const auto &[Name, Kernel] : Wanted.Kernels) {
    if (Kernel.Mode != TimingMode::Dispatch)
      Timed.Names.insert(Name);
    for (const PlannedShape &Shape : Kernel.Shapes)
      Timed.HangMs = std::max(Timed.HangMs, hangLimitMs(Wanted.HangMs, double(Shape.MeanNs)));
  }
  return Timed;
}

/// Returns the replays of a run by \p Wanted; null if nothing is to be replayed.
static std::unique_ptr<Replays> plannedReplays(const CuptiApi &Cupti, const DriverApi &Driver,
                                               Submissions &Submitted, const Plan &Wanted,
                                               Watchdog &Dog) {
  for (const auto &[Name, Kernel] : Wanted.Kernels)
    if (isReplayed(Kernel.Mode))
      return std::make_unique<Replays>(Cupti, Driver, Submitted, Wanted, Dog);
  return nullptr;
}

PlannedRun::PlannedRun(const CuptiApi &Cupti, const DriverApi &Driver, RecordFile &File,
                       Submissions &Submitted, Plan W)
    : Driver(Driver), File(File), Wanted(std::move(W)), Dog(Driver, File), Handles(Driver, Wanted),
      Replaying(plannedReplays(Cupti, Driver, Submitted, Wanted, Dog)), States(Wanted),
      Changes(Driver, File, Wanted, Handles, Replaying.get(), Lock, States) {
  for (const auto &[Name, Kernel] : Wanted.Kernels)
    for (size_t V = 0; V < Kernel.Variants.size(); ++V)
      Names[Kernel.Variants[V].Clone] = {&Kernel, V};
  if (NodeKernels Timed = timedKernels(Wanted); !Timed.Names.empty() && Driver.launchesNodes())
    ByNode = std::make_unique<GraphLaunches>(Cupti, Driver, File, Submitted, std::move(Timed), Dog,
                                             static_cast<NodeVariants *>(this));
}

Roles PlannedRun::calls() const {
  // When a program waits, it learns that a kernel has broken the context.
  Roles Own = LaunchCall::Calls | KernelHandles::Calls | Role::Waits;
  if (ByNode)
    Own |= GraphLaunches::Calls;
  return Replaying ? Own | Replays::Calls : Own;
}

std::set<CUpti_CallbackId> PlannedRun::unknownCalls() const {
  std::set<CUpti_CallbackId> Unknown;
  if (Replaying)
    Unknown = Replaying->unknownCalls();
  if (ByNode)
    Unknown.insert(ByNode->unknownCalls().begin(), ByNode->unknownCalls().end());
  return Unknown;
}

std::set<CUpti_CallbackId> PlannedRun::resources() const {
  return {CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, CUPTI_CBID_RESOURCE_STREAM_CREATED,
          CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, CUPTI_CBID_RESOURCE_MODULE_LOADED};
}

bool PlannedRun::runsProgramAsItIs() const {
  return std::all_of(Wanted.Kernels.begin(), Wanted.Kernels.end(),
                     [](const auto &Entry) { return Entry.second.Mode == TimingMode::Dispatch; });
}

void PlannedRun::onCall(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  bool Entry = Call.callbackSite == CUPTI_API_ENTER;
  if (Entry && Replaying)
    Replaying->note(Id, Call);
  if (ByNode)
    ByNode->onCall(Id, Call);
  if (Call.functionParams) {
    Handles.note(Id, Call);
    if (rolesOf(Id).any(LaunchCall::Calls))
      Entry ? onLaunch(Id, Call) : onLaunched(Call);
  }
  if (Entry)
    return;
  auto *Result = static_cast<const CUresult *>(Call.functionReturnValue);
  if (Result && breaksContext(*Result))
    onBrokenContext(*Result);
  if (Replaying)
    Replaying->note(Id, Call);
}

void PlannedRun::onResource(CUpti_CallbackId Id, const CUpti_ResourceData &Resource) {
  if (Id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) {
    Handles.forget();
    // The launches in progress there end with the context, with or without a record.
    forgetPending();
    if (ByNode)
      ByNode->contextDestroyed(Resource.context);
  }
  if (Replaying)
    Replaying->onResource(Id, Resource);
}

const PlannedShape *PlannedRun::plannedShape(const ResolvedKernel &Kernel,
                                             const LaunchShape &Undivided, const LaunchCall &Call) {
  const PlannedKernel &Planned = *Kernel.Planned;
  if (!Planned.hasSegments(Undivided))
    return Planned.find(Kernel.inClass(Undivided, Call));
  std::lock_guard<std::mutex> Guard(Lock);
  return States.nextInSegments(Planned, Undivided);
}

void PlannedRun::onLaunch(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  ThisLaunch = {};
  std::optional<LaunchCall> Launch = LaunchCall::decode(Id, Call.functionParams);
  if (!Launch)
    return;
  std::shared_ptr<ResolvedKernel> Kernel = Handles.find(*Launch->Slot, Call.context);
  if (!Kernel)
    return;
  const PlannedKernel &Planned = *Kernel->Planned;
  LaunchShape Undivided = Kernel->shapeOf(*Launch);
  const PlannedShape *Shape = plannedShape(*Kernel, Undivided, *Launch);
  if (Shape && Planned.Mode == TimingMode::Dispatch) {
    if (std::optional<size_t> Only = Changes.dispatch(*Shape, *Kernel, *Launch))
      ThisLaunch = {Shape, *Only, nullptr};
    return;
  }
  auto How = ProgramCalls::active() ? Rotation::By::NestedCall : Rotation::By::Call;
  std::optional<size_t> Variant;
  if (Shape)
    Variant = Changes.change(*Shape, *Kernel, *Launch, Call, How);
  if (Variant)
    ThisLaunch = {Shape, *Variant, nullptr};
  else if (mayRotate(Planned, Undivided) && !isCapturing(Driver, Launch->Stream))
    ThisLaunch.Beside = noteBeside(Planned, Undivided, Call.correlationId, How);
}

std::optional<NodeVariant> PlannedRun::next(const LaunchCall &Node, CUcontext Context,
                                            uint64_t Correlation) {
  std::shared_ptr<ResolvedKernel> Kernel = Handles.find(*Node.Slot, Context);
  if (!Kernel || Kernel->Planned->Mode == TimingMode::Dispatch)
    return std::nullopt;
  const PlannedKernel &Planned = *Kernel->Planned;
  LaunchShape Undivided = Kernel->shapeOf(Node);
  const PlannedShape *Shape = plannedShape(*Kernel, Undivided, Node);
  std::optional<size_t> Variant;
  if (Shape)
    Variant = Changes.changeNode(*Shape, *Kernel, Node, Correlation);
  if (!Variant && mayRotate(Planned, Undivided))
    (void)noteBeside(Planned, Undivided, Correlation, Rotation::By::Node);
  if (!Variant || *Variant == DefaultPlace)
    return std::nullopt;
  return NodeVariant{*Node.Slot, Planned.Name, Planned.Variants[*Variant].Name};
}

void PlannedRun::failed(uint64_t Correlation) {
  std::lock_guard<std::mutex> Guard(Lock);
  States.failed(Correlation);
}

/// The kernel is not rotated any more, so that whole runs decide: in those, graphs are made with
/// the variants from the beginning.
void PlannedRun::refused(const NodeVariant &To, const std::string &Why) {
  std::lock_guard<std::mutex> Guard(Lock);
  KernelState &Kernel = States.of(Wanted.Kernels.at(To.Kernel));
  if (std::exchange(Kernel.Refused, true))
    return;
  File.add(StoodBackKernel{To.Kernel, "the driver does not take its variant " + To.Variant +
                                          " in a graph: " + Why});
}

void PlannedRun::onLaunched(const CUpti_CallbackData &Call) {
  const PlannedShape *Shape = std::exchange(ThisLaunch.Shape, nullptr);
  Rotation *Outside = std::exchange(ThisLaunch.Beside, nullptr);
  auto *Result = static_cast<const CUresult *>(Call.functionReturnValue);
  if ((!Shape && !Outside) || !Result || *Result == CUDA_SUCCESS)
    return;
  std::lock_guard<std::mutex> Guard(Lock);
  if (!Shape)
    return Outside->failed(Call.correlationId);
  ShapeState &State = States.of(*Shape);
  if (State.Turns)
    State.Turns->failed(Call.correlationId);
  else if (State.Dispatched > 0)
    --State.Dispatched;
  // Otherwise the program would see an error that is not its own. This call can also return the
  // error of a kernel before this launch; onBrokenContext() finds which variant caused it.
  if (ThisLaunch.Variant != DefaultPlace && !breaksContext(*Result))
    Dog.fail(State.Kernel->Name, State.Kernel->Variants[ThisLaunch.Variant].Name,
             errorName(Driver, *Result));
}

/// The context broke while variants were running in it. The first of them is blamed, because the
/// driver does not say which kernel it was.
void PlannedRun::onBrokenContext(CUresult Error) {
  // The records of kernels that have ended must be delivered first.
  flushActivity(/*Last=*/false);
  std::lock_guard<std::mutex> Guard(Lock);
  size_t Variant = 0;
  if (const ShapeState *State = States.firstPending(Variant))
    Dog.fail(State->Kernel->Name, State->Kernel->Variants[Variant].Name, errorName(Driver, Error));
}

/// Returns whether the first variant of the shape that has not been seen to end seems to hang. A
/// launch may wait for a long time in the program's own queue. Therefore what counts is for how
/// long no kernel at all has ended, and the limit is three times that of a replay, in which nothing
/// else runs. The kernel that runs may also be of another kind.
bool PlannedRun::seemsHung(const ShapeState &State, uint64_t &LimitMs) const {
  if (size_t Oldest = 0; !State.pending(Oldest))
    return false;
  LimitMs = 3 * std::max(hangLimitMs(Wanted.HangMs, State.Shape->MeanNs), LongestNs / 1'000'000);
  return steadyMs() > std::max(State.PendingSinceMs, LastRecordMs.load()) + LimitMs;
}

void PlannedRun::check() {
  Dog.check();
  if (ByNode)
    ByNode->check();
  {
    std::lock_guard<std::mutex> Guard(Lock);
    uint64_t LimitMs = 0;
    if (!anyHung(LimitMs))
      return;
  }
  // CUPTI keeps a buffer back while one of its kernels runs, so the records of a program that never
  // waits come late. This flush loses the record of the kernel that runs now, and delivers all
  // kernels that have ended.
  Checking = true;
  flushActivity(/*Last=*/true);
  Checking = false;
  checkRotated();
  // It did not hang. The records that were taken too early do not come again.
  forgetPending();
}

void PlannedRun::checkRotated() {
  std::lock_guard<std::mutex> Guard(Lock);
  size_t Variant = 0;
  uint64_t LimitMs = 0;
  if (!anyHung(LimitMs))
    return;
  if (const ShapeState *First = States.firstPending(Variant))
    Dog.fail(First->Kernel->Name, First->Kernel->Variants[Variant].Name,
             "hung after " + std::to_string(LimitMs) + " ms");
}

PlannedRun::Counted PlannedRun::onKernel(const CUpti_ActivityKernel10 &Record,
                                         const LaunchShape &Shape, std::string &Lines) {
  LastRecordMs = steadyMs();
  if (uint64_t Ns = Record.end - Record.start; Ns > LongestNs)
    LongestNs = Ns;
  Counted Result{false, Record.name};
  auto It = Names.find(Record.name);
  if (Replaying && Replaying->onKernel(Record, It != Names.end())) {
    Result.IsOurs = true;
    return Result;
  }
  if (It == Names.end())
    return Result;
  const Named &Found = It->second;
  Result.Name = Found.Kernel->Name;
  bool InGraph = Record.graphNodeId != 0;
  std::lock_guard<std::mutex> Guard(Lock);
  ShapeState *Its =
      States.ofRecord(*Found.Kernel, Shape, Found.Variant, Record.correlationId, InGraph);
  if (!Its)
    return Result;
  ShapeState &State = *Its;
  if (!InGraph && Found.Variant != DefaultPlace && State.Dispatched > 0)
    --State.Dispatched;
  if (!State.Turns)
    return Result;
  if (auto Turn = State.Turns->recorded(Found.Variant, Record.correlationId, InGraph);
      Turn && Turn->Counts)
    Lines += recordLine(RotatedSample{Found.Kernel->Name, State.Shape->Shape, unsigned(Turn->Cycle),
                                      Found.Kernel->Variants[Found.Variant].Name,
                                      double(Record.end - Record.start)});
  return Result;
}
