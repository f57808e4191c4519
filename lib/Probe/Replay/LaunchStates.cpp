#include "Probe/Replay/LaunchStates.h"

#include <algorithm>
#include <optional>

using namespace carve;
using namespace carve::probe;

/// The shape of \p Kernel with most of its time, as far as it is known.
static RotatedKernel rotatedKernel(const PlannedKernel &Kernel) {
  auto TotalNs = [](const PlannedShape &Shape) { return Shape.Launches * Shape.MeanNs; };
  auto Most = std::max_element(
      Kernel.Shapes.begin(), Kernel.Shapes.end(),
      [&](const PlannedShape &A, const PlannedShape &B) { return TotalNs(A) < TotalNs(B); });
  return {Most == Kernel.Shapes.end() ? 0 : Most->Launches, Kernel.Variants.size()};
}

LaunchStates::LaunchStates(const Plan &Wanted) : Seed(Wanted.Seed) {
  for (const auto &[Name, Kernel] : Wanted.Kernels) {
    Kernels[&Kernel].Out = Kernel.Excluded;
    for (const PlannedShape &Shape : Kernel.Shapes) {
      Shapes[&Shape].Kernel = &Kernel;
      Shapes[&Shape].Shape = &Shape;
    }
  }
  setParts(Wanted);
}

/// Gives the shapes of each rotated kernel the kernel's part, in the order of the kernels' names.
/// Shapes with few launches do without one.
void LaunchStates::setParts(const Plan &Wanted) {
  std::map<std::string_view, const PlannedKernel *> Rotated;
  for (const auto &[Name, Kernel] : Wanted.Kernels)
    if (Kernel.Mode == TimingMode::Rotate || Kernel.Mode == TimingMode::VerifyRotate)
      Rotated[Name] = &Kernel;
  std::vector<RotatedKernel> Launched;
  for (const auto &[Name, Kernel] : Rotated)
    Launched.push_back(rotatedKernel(*Kernel));
  std::vector<LaunchPart> Parts = rotationParts(Launched);
  size_t Next = 0;
  for (const auto &[Name, Kernel] : Rotated) {
    for (const PlannedShape &Shape : Kernel->Shapes)
      Shapes.at(&Shape).Part = Parts[Next];
    ++Next;
  }
}

bool LaunchStates::hasReplayedSegment(const ShapeState &State) const {
  const LaunchShape Undivided = State.Shape->Shape.undivided();
  return State.Kernel->hasSegments(Undivided) && anyShape([&](const ShapeState &Other) {
           return Other.Kernel == State.Kernel && &Other != &State && Other.Replayed > 0 &&
                  Other.Shape->Shape.undivided() == Undivided;
         });
}

/// The first launch of a shape is replayed. The middle one is replayed as well and timed once more,
/// because the program is then in its steady state.
bool LaunchStates::wantsReplay(const ShapeState &State, uint64_t Index) const {
  const PlannedKernel &Kernel = *State.Kernel;
  if (!isReplayed(Kernel.Mode) || State.Replaying || Kernels.at(&Kernel).StoodBack)
    return false;
  if (State.Replayed == 0)
    return Index >= State.Shape->firstReplayed();
  return Kernel.Mode == TimingMode::Replay && State.Replayed == 1 && State.Shape->isTimedTwice() &&
         Index >= State.Shape->secondReplayed();
}

bool LaunchStates::wantsRotation(const ShapeState &State) const {
  const PlannedKernel &Kernel = *State.Kernel;
  bool Ended = Kernels.at(&Kernel).Refused || (State.Turns && State.Turns->ended());
  if (Kernel.Mode == TimingMode::Rotate)
    return !Ended;
  if (Kernels.at(&Kernel).StoodBack)
    return Kernel.MayRotate && !Ended;
  return Kernel.Mode == TimingMode::VerifyRotate && State.Replayed > 0 && !Ended;
}

bool LaunchStates::isInPart(ShapeState &State, uint64_t Index) const {
  const uint64_t Launches = State.Shape->Launches;
  if (!State.Turns &&
      State.Part.left(Index, Launches) < launchesForCycles(State.Kernel->Variants.size()))
    State.Part = {};
  return State.Part.holds(Index, Launches);
}

bool LaunchStates::mayRotate(const PlannedKernel &Kernel, const LaunchShape &Undivided) const {
  const KernelState &Its = Kernels.at(&Kernel);
  if (!Kernel.mayBecomeVariants() || Its.Refused ||
      (Its.StoodBack && !Kernel.MayRotate && Kernel.Mode != TimingMode::Rotate))
    return false;
  return std::any_of(Kernel.Shapes.begin(), Kernel.Shapes.end(), [&](const PlannedShape &Each) {
    const ShapeState &State = Shapes.at(&Each);
    return Each.Shape.undivided() == Undivided && !(State.Turns && State.Turns->ended());
  });
}

Rotation *LaunchStates::noteBeside(const PlannedKernel &Kernel, const LaunchShape &Undivided,
                                   uint64_t Correlation, Rotation::By How) {
  Rotation &Launches =
      Beside
          .try_emplace(UndividedShape{&Kernel, Undivided}, std::vector<size_t>{DefaultPlace}, Seed)
          .first->second;
  Launches.launched({0, DefaultPlace, /*Counts=*/false}, Correlation, How, nextNumber());
  return &Launches;
}

void LaunchStates::failed(uint64_t Correlation) {
  for (auto &[Shape, State] : Shapes)
    if (State.Turns)
      State.Turns->failed(Correlation);
  for (auto &[Shape, Launches] : Beside)
    Launches.failed(Correlation);
}

void LaunchStates::drop(const PlannedKernel &Kernel, const std::set<size_t> &Variants) {
  for (auto &[Shape, State] : Shapes)
    if (State.Kernel == &Kernel && State.Turns)
      for (size_t Variant : Variants)
        State.Turns->drop(Variant);
}

void LaunchStates::forgetPending() {
  for (auto &[Shape, State] : Shapes) {
    State.Dispatched = 0;
    if (State.Turns)
      State.Turns->forgetLaunches();
  }
  for (auto &[Shape, Launches] : Beside)
    Launches.forgetLaunches();
}

ShapeState *LaunchStates::ofRecord(const PlannedKernel &Kernel, const LaunchShape &Undivided,
                                   size_t Variant, uint64_t Correlation, bool InGraph) {
  auto Others = Beside.find({&Kernel, Undivided});
  if (!Kernel.isDivided(Undivided) && Others == Beside.end()) {
    const PlannedShape *Planned = Kernel.find(Undivided);
    return Planned ? &Shapes.at(Planned) : nullptr;
  }
  ShapeState *Found = nullptr;
  std::optional<Rotation::Match> Best;
  for (const PlannedShape &Each : Kernel.Shapes) {
    ShapeState &State = Shapes.at(&Each);
    if (Each.Shape.undivided() != Undivided || !State.Turns)
      continue;
    std::optional<Rotation::Match> Its = State.Turns->match(Variant, Correlation, InGraph);
    if (!Its || (Best && *Best <= *Its))
      continue;
    Best = Its;
    Found = &State;
  }
  if (Others != Beside.end() && Variant == DefaultPlace)
    if (auto Its = Others->second.match(Variant, Correlation, InGraph);
        Its && (!Best || *Its < *Best)) {
      (void)Others->second.recorded(Variant, Correlation, InGraph);
      return nullptr;
    }
  return Found;
}

const ShapeState *LaunchStates::firstPending(size_t &Variant) const {
  const ShapeState *First = nullptr;
  uint64_t Least = UINT64_MAX;
  for (const auto &[Shape, State] : Shapes) {
    uint64_t Number = 0;
    size_t Oldest = 0;
    if (!State.pending(Oldest, &Number) || Number >= Least)
      continue;
    First = &State;
    Least = Number;
    Variant = Oldest;
  }
  return First;
}
