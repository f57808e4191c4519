#include "Probe/PlannedRun.h"

#include "Probe/TracedProcess.h"

using namespace carve::probe;

namespace {
/// The program's rotated launch that this thread is in.
struct RotatedCall {
  const PlannedShape *Shape = nullptr;
  Rotation::Turn Turn;
};
} // namespace

static thread_local RotatedCall Rotated;

static std::string triple(const std::array<uint32_t, 3> &Value) {
  return std::to_string(Value[0]) + "," + std::to_string(Value[1]) + "," + std::to_string(Value[2]);
}

std::string carve::probe::shapeText(const LaunchShape &Shape) {
  return triple(Shape.Grid) + "\t" + triple(Shape.Block) + "\t" +
         std::to_string(Shape.DynamicSmemBytes) + "\t" + triple(Shape.Cluster);
}

std::string carve::probe::shapeRecord(std::string_view Kind, std::string_view Kernel,
                                      const LaunchShape &Shape,
                                      std::initializer_list<std::string> Rest) {
  std::string Line = recordLine({Kind, Kernel});
  Line.pop_back();
  Line += "\t" + shapeText(Shape);
  for (const std::string &Field : Rest) {
    std::string Clean = recordLine({Field});
    Clean.pop_back();
    Line += "\t" + Clean;
  }
  return Line + "\n";
}

std::string carve::probe::startPlannedRun(TracedProcess &P, const char *File) {
  Plan Wanted;
  if (!Wanted.read(File))
    return "plan-unreadable";
  if (!P.Driver.canLaunch())
    return "driver-incomplete";
  P.Planned = std::make_unique<PlannedRun>(P, std::move(Wanted));
  return "";
}

PlannedRun::PlannedRun(TracedProcess &P, Plan W)
    : Dog(P.Driver, P.File), P(P), Wanted(std::move(W)), Handles(P.Driver, Wanted) {
  for (const auto &[Name, Kernel] : Wanted.Kernels) {
    Names[Kernel.Name] = {&Kernel, 0};
    for (size_t I = 0; I < Kernel.Clones.size(); ++I)
      Names[Kernel.Clones[I]] = {&Kernel, I + 1};
    Kernels[&Kernel].Out = Kernel.Excluded;
    for (const PlannedShape &Shape : Kernel.Shapes) {
      Shapes[&Shape].Kernel = &Kernel;
      Shapes[&Shape].Shape = &Shape;
    }
  }
  Launches.insert(LaunchCall::calls().begin(), LaunchCall::calls().end());
}

PlannedRun::~PlannedRun() = default;

std::vector<CUpti_CallbackId> PlannedRun::calls() const {
  std::set<CUpti_CallbackId> All = Launches;
  All.insert(Gated.begin(), Gated.end());
  All.insert(KernelHandles::calls().begin(), KernelHandles::calls().end());
  return {All.begin(), All.end()};
}

void PlannedRun::onCall(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  bool Entry = Call.callbackSite == CUPTI_API_ENTER;
  bool IsGated = Gated.count(Id);
  if (Entry && IsGated)
    Gate.enter();
  if (Call.functionParams) {
    Handles.note(Id, Call);
    if (Launches.count(Id))
      Entry ? onLaunch(Id, Call) : onLaunched(Call);
  }
  if (Entry)
    return;
  auto *Result = static_cast<const CUresult *>(Call.functionReturnValue);
  if (Result && breaksContext(*Result))
    onBrokenContext(*Result);
  if (IsGated)
    Gate.leave();
}

void PlannedRun::onResource(CUpti_CallbackId Id, const CUpti_ResourceData &) {
  if (Id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
    Handles.forget();
}

bool PlannedRun::isCapturing(CUstream Stream) const {
  CUstreamCaptureStatus Status = CU_STREAM_CAPTURE_STATUS_NONE;
  // The legacy stream cannot be asked while another one captures: an error is an answer, too.
  return P.Driver.StreamIsCapturing(Stream, &Status) != CUDA_SUCCESS ||
         Status != CU_STREAM_CAPTURE_STATUS_NONE;
}

bool PlannedRun::rotates(const PlannedKernel &Kernel) const {
  return Kernel.Mode == TimingMode::Rotate;
}

void PlannedRun::onLaunch(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  Rotated = {};
  std::optional<LaunchCall> Launch = LaunchCall::decode(Id, Call.functionParams);
  if (!Launch)
    return;
  std::shared_ptr<ResolvedKernel> Kernel = Handles.find(*Launch->Slot, Call.context);
  if (!Kernel)
    return;
  const PlannedShape *Shape = Kernel->Planned->find(Kernel->shapeOf(*Launch));
  // A variant in a captured launch would stay in the graph.
  if (!Shape || isCapturing(Launch->Stream))
    return;
  ShapeState &State = Shapes.at(Shape);
  if (rotates(*Kernel->Planned))
    rotate(State, *Kernel, *Launch, Call.correlationId);
}

void PlannedRun::rotate(ShapeState &State, ResolvedKernel &Kernel, const LaunchCall &Launch,
                        uint64_t Correlation) {
  uint64_t Index;
  bool Started;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Index = State.Launches++;
    Started = State.Turns != nullptr;
  }
  if (!Started)
    startRotation(State, Kernel, Launch, Index);
  std::lock_guard<std::mutex> Guard(Lock);
  std::optional<Rotation::Turn> Turn = State.Turns->next();
  // Another module's clones of this name may not take this launch.
  if (!Turn || !Kernel.Variants[Turn->Variant])
    return;
  State.Turns->launched(*Turn, Correlation);
  Rotated = {State.Shape, *Turn};
  if (Turn->Variant != 0)
    *Launch.Slot = Kernel.Variants[Turn->Variant];
}

void PlannedRun::startRotation(ShapeState &State, ResolvedKernel &Kernel, const LaunchCall &Launch,
                               uint64_t Index) {
  std::set<size_t> Out;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Out = Kernels.at(Kernel.Planned).Out;
  }
  std::vector<size_t> Active;
  std::string Lines;
  for (size_t V = 0; V < Kernel.Variants.size(); ++V) {
    if (Out.count(V))
      continue;
    std::string Refusal = Handles.refusal(Kernel, V, Launch);
    if (Refusal.empty())
      Active.push_back(V);
    else
      Lines += shapeRecord("verified", Kernel.Planned->Name, State.Shape->Shape,
                           {std::to_string(Index), std::to_string(V), "refused", Refusal});
  }
  std::lock_guard<std::mutex> Guard(Lock);
  if (State.Turns)
    return;
  // Each shape in an order of its own.
  uint64_t Seed =
      Wanted.Seed + std::hash<std::string>()(Kernel.Planned->Name + shapeText(State.Shape->Shape));
  State.Turns = std::make_unique<Rotation>(std::move(Active), Seed);
  P.File.append(Lines);
}

void PlannedRun::onLaunched(const CUpti_CallbackData &Call) {
  const PlannedShape *Shape = std::exchange(Rotated.Shape, nullptr);
  auto *Result = static_cast<const CUresult *>(Call.functionReturnValue);
  if (!Shape || !Result || *Result == CUDA_SUCCESS)
    return;
  std::lock_guard<std::mutex> Guard(Lock);
  ShapeState &State = Shapes.at(Shape);
  State.Turns->failed(Call.correlationId);
  // The program would see an error that is not its own. One of a kernel before this launch comes
  // out here, too; onBrokenContext() finds whose it is.
  if (Rotated.Turn.Variant != 0 && !breaksContext(*Result))
    Dog.fail(State.Kernel->Name, Rotated.Turn.Variant, errorName(P.Driver, *Result));
}

/// The context broke while variants were under way in it: the first of them is blamed, as the
/// driver does not say which kernel it was.
void PlannedRun::onBrokenContext(CUresult Error) {
  std::lock_guard<std::mutex> Guard(Lock);
  for (const auto &[Shape, State] : Shapes)
    if (size_t Variant = 0; State.Turns && State.Turns->pending(Variant))
      Dog.fail(State.Kernel->Name, Variant, errorName(P.Driver, Error));
}

PlannedRun::Counted PlannedRun::onKernel(const CUpti_ActivityKernel10 &Record,
                                         const LaunchShape &Shape, std::string &Lines) {
  Counted Result{false, Record.name};
  auto It = Names.find(Record.name);
  if (It == Names.end())
    return Result;
  const Named &Found = It->second;
  Result.Name = Found.Kernel->Name;
  const PlannedShape *Planned = Found.Kernel->find(Shape);
  // A graph's kernels were captured as they are.
  if (!Planned || Record.graphNodeId != 0)
    return Result;
  std::lock_guard<std::mutex> Guard(Lock);
  ShapeState &State = Shapes.at(Planned);
  if (!State.Turns)
    return Result;
  if (auto Turn = State.Turns->recorded(Found.Variant, Record.correlationId))
    Lines += shapeRecord("rotated", Found.Kernel->Name, Shape,
                         {std::to_string(Turn->Cycle), std::to_string(Found.Variant),
                          std::to_string(Record.end - Record.start)});
  return Result;
}
