#include "Probe/Replay/LaunchChanges.h"

#include "Probe/Driver/StreamCaptures.h"
#include "Protocol/RecordWriter.h"

#include <memory>
#include <set>
#include <string>
#include <utility>

using namespace carve;
using namespace carve::probe;

std::optional<size_t> LaunchChanges::change(const PlannedShape &Shape, ResolvedKernel &Kernel,
                                            const LaunchCall &Launch,
                                            const CUpti_CallbackData &Call, Rotation::By How) {
  ShapeState &State = States.of(Shape);
  uint64_t Index = 0;
  bool Replay = false, Rotate = false;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Index = State.Launches++;
    Replay = States.wantsReplay(State, Index);
    Rotate = States.wantsRotation(State) && States.isInPart(State, Index);
    State.HasRunBeside |= Replay || !Rotate;
  }
  // A variant in a captured launch would stay in the graph.
  if ((!Replay && !Rotate) || isCapturing(Driver, Launch.Stream))
    return std::nullopt;
  if (Replay && replay(State, Kernel, Launch, Index, Call.context))
    return std::nullopt;
  return Rotate ? rotate(State, Kernel, Launch, Index, Call.correlationId, How) : std::nullopt;
}

std::optional<size_t> LaunchChanges::changeNode(const PlannedShape &Shape, ResolvedKernel &Kernel,
                                                const LaunchCall &Node, uint64_t Correlation) {
  ShapeState &State = States.of(Shape);
  uint64_t Index = 0;
  bool Rotate = false;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Index = State.Launches++;
    Rotate = States.wantsRotation(State);
  }
  return Rotate ? rotate(State, Kernel, Node, Index, Correlation, Rotation::By::Node)
                : std::nullopt;
}

std::optional<size_t> LaunchChanges::dispatch(const PlannedShape &Shape, ResolvedKernel &Kernel,
                                              const LaunchCall &Launch) {
  size_t Variant = FirstPlace;
  while (Variant < Kernel.Variants.size() && !Kernel.mayRun(Variant, Launch))
    ++Variant;
  // A variant in a captured launch would stay in the graph.
  if (Variant == Kernel.Variants.size() || Kernel.Planned->Excluded.count(Variant) ||
      isCapturing(Driver, Launch.Stream) || Handles.refusal(Kernel, Variant, Launch))
    return std::nullopt;
  ShapeState &State = States.of(Shape);
  std::lock_guard<std::mutex> Guard(Lock);
  State.notePending();
  ++State.Dispatched;
  *Launch.Slot = Kernel.Variants[Variant];
  return Variant;
}

/// Returns the variants that launches of this shape may become, with the default among them.
/// Variants that the driver would refuse are recorded as refused. Whether the arguments are those
/// of a guarded variant is left to the caller, because a rotation goes on with other launches of
/// the shape.
std::vector<size_t> LaunchChanges::usable(ResolvedKernel &Kernel, const LaunchCall &Launch,
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

bool LaunchChanges::replay(ShapeState &State, ResolvedKernel &Kernel, const LaunchCall &Launch,
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
    Target.ColdL2 = State.ColdL2;
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

bool LaunchChanges::finishReplay(ShapeState &State, const Replay::Result &Done) {
  std::lock_guard<std::mutex> Guard(Lock);
  KernelState &Kernel = States.of(*State.Kernel);
  State.Replaying = false;
  if (Done.ColdL2)
    State.ColdL2 = Done.ColdL2;
  Kernel.Out.insert(Done.Rejected.begin(), Done.Rejected.end());
  States.drop(*State.Kernel, Done.Rejected);
  if (Done.StoodBack.isForNow() && ++State.Attempts < MaxAttempts)
    return false;
  State.Attempts = 0;
  if (!Done.StoodBack)
    State.Sound.insert(Done.Sound.begin(), Done.Sound.end());
  // The results of a first replay stay, whatever happens to the second one or in another segment.
  bool IsFirst = State.Replayed++ == 0 && !States.hasReplayedSegment(State);
  if (Done.StoodBack && !Kernel.StoodBack && IsFirst) {
    Kernel.StoodBack = true;
    File.add(StoodBackKernel{State.Kernel->Name, Done.StoodBack.reason()});
  }
  return true;
}

std::optional<size_t> LaunchChanges::rotate(ShapeState &State, ResolvedKernel &Kernel,
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
    if (std::exchange(State.HasRunBeside, false))
      State.Turns->interrupt();
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

void LaunchChanges::startRotation(ShapeState &State, ResolvedKernel &Kernel,
                                  const LaunchCall &Launch, uint64_t Index, Rotation::By How) {
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
  unsigned InARow = 1;
  if (State.Shape->hasWarmTimes() && How != Rotation::By::Node)
    InARow = Rotation::mostInARow(State.Part.left(Index, State.Shape->Launches), Active.size());
  State.Turns = std::make_unique<Rotation>(std::move(Active), Seed, InARow);
}
