#include "Probe/Replay/PlannedRun.h"

#include "Probe/Driver/CallbackScope.h"
#include "Probe/Driver/StreamCaptures.h"
#include "Probe/Trace/Activity.h"

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

PlannedRun::PlannedRun(const CuptiApi &Cupti, const DriverApi &Driver, RecordFile &File,
                       Submissions &Submitted, Plan W)
    : Driver(Driver), File(File), Wanted(std::move(W)), Dog(Driver, File), Handles(Driver, Wanted),
      States(Wanted) {
  for (const auto &[Name, Kernel] : Wanted.Kernels)
    for (size_t V = 0; V < Kernel.Variants.size(); ++V)
      Names[Kernel.Variants[V].Clone] = {&Kernel, V};
  for (const auto &[Name, Kernel] : Wanted.Kernels)
    if (isReplayed(Kernel.Mode) && !Replaying)
      Replaying = std::make_unique<Replays>(Cupti, Driver, Submitted, Wanted, Dog);
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
  const PlannedShape *Shape = Planned.find(Kernel->inClass(Undivided, *Launch));
  if (Shape && Planned.Mode == TimingMode::Dispatch)
    return dispatch(States.of(*Shape), *Kernel, *Launch);
  auto How = ProgramCalls::active() ? Rotation::By::NestedCall : Rotation::By::Call;
  std::optional<size_t> Variant;
  if (Shape)
    Variant = change(*Shape, *Kernel, *Launch, Call, How);
  if (Variant)
    ThisLaunch = {Shape, *Variant, nullptr};
  else if (Planned.isDivided(Undivided) && !isCapturing(Driver, Launch->Stream))
    ThisLaunch.Beside = noteBeside(Planned, Undivided, Call.correlationId, How);
}

/// Replays the launch, or makes it a variant whose turn it is. Returns which one; nothing if it
/// runs the program's own kernel and does not take part in the rotation.
std::optional<size_t> PlannedRun::change(const PlannedShape &Shape, ResolvedKernel &Kernel,
                                         const LaunchCall &Launch, const CUpti_CallbackData &Call,
                                         Rotation::By How) {
  ShapeState &State = States.of(Shape);
  uint64_t Index = 0;
  bool Replay = false, Rotate = false;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Index = State.Launches++;
    Replay = States.wantsReplay(State, Index);
    Rotate = States.wantsRotation(State);
  }
  // A variant in a captured launch would stay in the graph.
  if ((!Replay && !Rotate) || isCapturing(Driver, Launch.Stream))
    return std::nullopt;
  if (Replay && replay(State, Kernel, Launch, Index, Call.context))
    return std::nullopt;
  return Rotate ? rotate(State, Kernel, Launch, Index, Call.correlationId, How) : std::nullopt;
}

std::optional<NodeVariant> PlannedRun::next(const LaunchCall &Node, CUcontext Context,
                                            uint64_t Correlation) {
  std::shared_ptr<ResolvedKernel> Kernel = Handles.find(*Node.Slot, Context);
  if (!Kernel || Kernel->Planned->Mode == TimingMode::Dispatch)
    return std::nullopt;
  const PlannedKernel &Planned = *Kernel->Planned;
  LaunchShape Undivided = Kernel->shapeOf(Node);
  const PlannedShape *Shape = Planned.find(Kernel->inClass(Undivided, Node));
  uint64_t Index = 0;
  bool Rotate = false;
  if (Shape) {
    std::lock_guard<std::mutex> Guard(Lock);
    ShapeState &State = States.of(*Shape);
    Index = State.Launches++;
    Rotate = States.wantsRotation(State);
  }
  std::optional<size_t> Variant;
  if (Rotate)
    Variant = rotate(States.of(*Shape), *Kernel, Node, Index, Correlation, Rotation::By::Node);
  if (!Variant && Planned.isDivided(Undivided))
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

/// Returns the variants that launches of this shape may become, with the default among them.
/// Variants that the driver would refuse are recorded as refused. Whether the arguments are those
/// of a guarded variant is left to the caller, because a rotation goes on with other launches of
/// the shape.
std::vector<size_t> PlannedRun::usable(ResolvedKernel &Kernel, const LaunchCall &Launch,
                                       const ShapeState &State, uint64_t Index) {
  std::set<size_t> Out;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Out = States.of(*Kernel.Planned).Out;
  }
  std::vector<size_t> Usable;
  std::string Lines;
  for (size_t V = 0; V < Kernel.Variants.size(); ++V) {
    if (Out.count(V) || !Kernel.Planned->mayRunIn(V, State.Shape->Shape))
      continue;
    Failure Refusal = Handles.refusal(Kernel, V, Launch);
    if (!Refusal)
      Usable.push_back(V);
    else
      Lines += recordLine(VerifiedVariant{{Kernel.Planned->Name, State.Shape->Shape, Index},
                                          Kernel.Planned->Variants[V].Name,
                                          Verdict::Refused,
                                          Refusal.reason()});
  }
  File.append(Lines);
  return Usable;
}

/// How many later launches are tried if a launch could not be replayed at that moment.
static constexpr unsigned MaxAttempts = 3;

bool PlannedRun::replay(ShapeState &State, ResolvedKernel &Kernel, const LaunchCall &Launch,
                        uint64_t Index, CUcontext Context) {
  {
    std::lock_guard<std::mutex> Guard(Lock);
    // Another thread may have come first.
    if (!States.wantsReplay(State, Index))
      return false;
    State.Replaying = true;
  }
  ReplayTarget Target(Launch, Kernel, *State.Shape, Index);
  std::vector<size_t> Usable = usable(Kernel, Launch, State, Index);
  unsigned Attempts = 0;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Attempts = State.Attempts;
    State.Uncompared.clear();
    for (size_t V : Usable)
      if (!Kernel.mayRun(V, Launch))
        State.Uncompared.insert(V);
      else if (V != DefaultPlace)
        Target.Variants.push_back(V);
  }
  Target.Timed = State.Kernel->Mode == TimingMode::Replay;
  Target.MayWait = Attempts + 1 < MaxAttempts && Index + 1 < State.Shape->Launches;
  Target.HangMs = Wanted.HangMs;
  Target.Seed = Wanted.Seed + Index + std::hash<std::string>()(Kernel.Planned->Name);
  return finishReplay(State, Replaying->replay(Target, Context));
}

bool PlannedRun::finishReplay(ShapeState &State, const Replay::Result &Done) {
  std::lock_guard<std::mutex> Guard(Lock);
  KernelState &Kernel = States.of(*State.Kernel);
  State.Replaying = false;
  Kernel.Out.insert(Done.Rejected.begin(), Done.Rejected.end());
  States.drop(*State.Kernel, Done.Rejected);
  if (Done.StoodBack.isForNow() && ++State.Attempts < MaxAttempts)
    return false;
  State.Attempts = 0;
  if (!Done.StoodBack)
    State.Sound.insert(Done.Sound.begin(), Done.Sound.end());
  // The results of a first replay stay, whatever happens to the second one.
  bool IsFirst = State.Replayed++ == 0;
  if (Done.StoodBack && !Kernel.StoodBack && IsFirst) {
    Kernel.StoodBack = true;
    File.add(StoodBackKernel{State.Kernel->Name, Done.StoodBack.reason()});
  }
  return true;
}

std::optional<size_t> PlannedRun::rotate(ShapeState &State, ResolvedKernel &Kernel,
                                         const LaunchCall &Launch, uint64_t Index,
                                         uint64_t Correlation, Rotation::By How) {
  bool Started;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Started = State.Turns != nullptr;
  }
  if (!Started)
    startRotation(State, Kernel, Launch, Index, How);
  std::optional<Rotation::Turn> Turn;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Turn = State.Turns->next();
  }
  if (!Turn)
    return std::nullopt;
  // In another module or context the clone may be another one, or missing.
  if (!Kernel.mayRun(Turn->Variant, Launch) || Handles.refusal(Kernel, Turn->Variant, Launch))
    Turn = {Turn->Cycle, DefaultPlace, /*Counts=*/false};
  std::lock_guard<std::mutex> Guard(Lock);
  State.notePending();
  State.Turns->launched(*Turn, Correlation, How, States.nextNumber());
  if (Turn->Variant != DefaultPlace)
    *Launch.Slot = Kernel.Variants[Turn->Variant];
  return Turn->Variant;
}

/// Makes the launch the kernel's only variant, if that may run there.
void PlannedRun::dispatch(ShapeState &State, ResolvedKernel &Kernel, const LaunchCall &Launch) {
  size_t Variant = FirstPlace;
  while (Variant < Kernel.Variants.size() && !Kernel.mayRun(Variant, Launch))
    ++Variant;
  // A variant in a captured launch would stay in the graph.
  if (Variant == Kernel.Variants.size() || Kernel.Planned->Excluded.count(Variant) ||
      isCapturing(Driver, Launch.Stream) || Handles.refusal(Kernel, Variant, Launch))
    return;
  std::lock_guard<std::mutex> Guard(Lock);
  State.notePending();
  ++State.Dispatched;
  ThisLaunch = {State.Shape, Variant, nullptr};
  *Launch.Slot = Kernel.Variants[Variant];
}

void PlannedRun::startRotation(ShapeState &State, ResolvedKernel &Kernel, const LaunchCall &Launch,
                               uint64_t Index, Rotation::By How) {
  std::vector<size_t> Active = usable(Kernel, Launch, State, Index);
  const std::vector<PlannedKernel::Variant> &All = Kernel.Planned->Variants;
  // Of the variants with one name, a shape takes part with the one that its first launch may run.
  std::set<std::string> Runnable;
  for (size_t V : Active)
    if (Kernel.mayRun(V, Launch))
      Runnable.insert(All[V].Name);
  std::erase_if(Active, [&](size_t V) {
    return Kernel.Planned->Measured.count(V) > 0 ||
           (Runnable.count(All[V].Name) > 0 && !Kernel.mayRun(V, Launch));
  });
  // Each shape gets an order of its own.
  RecordWriter Text(Kernel.Planned->Name);
  Text.shape(State.Shape->Shape);
  uint64_t Seed = Wanted.Seed + std::hash<std::string>()(std::move(Text).line());
  std::lock_guard<std::mutex> Guard(Lock);
  std::erase_if(Active, [&](size_t V) {
    return State.Uncompared.count(V) > 0 ||
           (Kernel.Planned->ToCompare.count(V) > 0 && State.Sound.count(V) == 0);
  });
  if (State.Turns)
    return;
  // Between two launches of a class, launches of other classes may run other variants. Most of what
  // a launch finds in L2 may still be what the one before of its class has left. Nodes of a graph
  // run in an order of their own.
  const bool Settles = State.Shape->hasWarmTimes() && How != Rotation::By::Node &&
                       Rotation::maySettle(State.Shape->Launches, Active.size());
  State.Turns = std::make_unique<Rotation>(std::move(Active), Seed, Settles);
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
