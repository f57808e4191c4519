// The shapes of a class may number thousands, most of them launched once. What a variant gains
// changes little from one grid to the next, but it may be another for the few blocks of the last
// launches than for the many of the first. So the groups are made by the time of one launch, and
// have equal total times: no representative then decides much more of the sum than another.

#include "Tune/InRun/TimedShapes.h"

#include "Tune/InRun/LaunchDivision.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

using namespace carve;

/// The share of a kernel's time that is timed, if there are enough shapes for it.
static constexpr double ShareTimed = 0.95;

static double ownNs(llvm::ArrayRef<TimedShape> Shapes) {
  return std::accumulate(Shapes.begin(), Shapes.end(), 0.0,
                         [](double Ns, const TimedShape &S) { return Ns + S.totalNs(); });
}

double carve::groupNs(llvm::ArrayRef<TimedShape> Shapes) {
  return std::accumulate(Shapes.begin(), Shapes.end(), 0.0,
                         [](double Ns, const TimedShape &S) { return Ns + S.groupNs(); });
}

double carve::tracedNs(const TracedKernel &Kernel) {
  double Ns = 0;
  for (const KernelLaunches &L : Kernel.Shapes)
    Ns += double(L.TotalNs);
  return Ns;
}

std::vector<TimedShape> carve::launchedShapes(const TracedKernel &Kernel) {
  std::map<LaunchShape, TimedShape> ByShape;
  for (const KernelLaunches &L : Kernel.Shapes) {
    if (L.Shape.Grid[0] == 0 || L.Launches == 0)
      continue;
    TimedShape &T = ByShape[L.Shape];
    T.Shape = L.Shape;
    T.MeanNs = (T.totalNs() + double(L.TotalNs)) / double(T.Launches + L.Launches);
    T.Launches += L.Launches;
    T.Processes = std::max(T.Processes, L.Processes);
  }
  // Of the classes of a shape, only segments have typical launches: otherwise these are counted
  // over all of the shape.
  for (const TypicalLaunches &L : Kernel.Typical)
    if (auto Its = ByShape.find(L.Shape); Its != ByShape.end())
      Its->second.Typical = L;
  std::vector<TimedShape> Shapes;
  for (auto &[Shape, T] : ByShape)
    Shapes.push_back(T);
  llvm::stable_sort(
      Shapes, [](const TimedShape &A, const TimedShape &B) { return A.totalNs() > B.totalNs(); });
  return Shapes;
}

std::vector<TimedShape> carve::dividedShapes(const TracedKernel &Kernel) {
  return launchedShapes(divideLaunches(Kernel).Kernel);
}

/// The first of \p Launched that make up \p WantedNs, but at most MostTimedShapes.
static std::vector<TimedShape> heaviest(std::vector<TimedShape> Launched, double WantedNs) {
  double TakenNs = 0;
  size_t Count = 0;
  while (Count < std::min(Launched.size(), MostTimedShapes) && (Count == 0 || TakenNs < WantedNs))
    TakenNs += Launched[Count++].totalNs();
  Launched.resize(Count);
  return Launched;
}

std::vector<TimedShape> carve::timedShapes(const TracedKernel &Kernel) {
  return heaviest(dividedShapes(Kernel), ShareTimed * tracedNs(Kernel));
}

std::vector<TimedShape> carve::segmentedShapes(const TracedKernel &Kernel) {
  const LaunchDivision Divided = divideBySegments(Kernel);
  if (Divided.Segments.empty())
    return {};
  return heaviest(launchedShapes(Divided.Kernel), ShareTimed * tracedNs(Kernel));
}

namespace {
/// Shapes that differ in their grids and classes only, by falling time.
struct ShapeClass {
  std::vector<TimedShape> Shapes;
  double TotalNs = 0;
  size_t Timed = 0; ///< How many of them are timed.
};
} // namespace

/// The classes of \p Shapes, by falling time.
static std::vector<ShapeClass> classesOf(llvm::ArrayRef<TimedShape> Shapes) {
  using Key = std::tuple<std::array<uint32_t, 3>, uint32_t, std::array<uint32_t, 3>>;
  std::map<Key, ShapeClass> ByKey;
  for (const TimedShape &S : Shapes) {
    ShapeClass &C = ByKey[{S.Shape.Block, S.Shape.DynamicSmemBytes, S.Shape.Cluster}];
    C.Shapes.push_back(S);
    C.TotalNs += S.totalNs();
  }
  std::vector<ShapeClass> Classes;
  for (auto &[Key, Class] : ByKey)
    Classes.push_back(std::move(Class));
  llvm::stable_sort(Classes,
                    [](const ShapeClass &A, const ShapeClass &B) { return A.TotalNs > B.TotalNs; });
  return Classes;
}

/// Drops the lightest of \p Classes that \p WantedNs does not need, or that are more than \p Most,
/// and shares \p Most timed shapes among the others.
static void shareOut(std::vector<ShapeClass> &Classes, double WantedNs, size_t Most) {
  double TakenNs = 0;
  size_t Count = 0;
  while (Count < std::min(Classes.size(), Most) && (Count == 0 || TakenNs < WantedNs)) {
    Classes[Count].Timed = 1;
    TakenNs += Classes[Count++].TotalNs;
  }
  Classes.resize(Count);
  // Each further one goes where one has to stand for most time.
  auto NsOfOne = [](const ShapeClass &C) {
    return C.Timed < C.Shapes.size() ? C.TotalNs / double(C.Timed) : -1;
  };
  for (; Count < Most && !Classes.empty(); ++Count) {
    auto Next = llvm::max_element(
        Classes, [&](const ShapeClass &A, const ShapeClass &B) { return NsOfOne(A) < NsOfOne(B); });
    if (NsOfOne(*Next) < 0)
      return; // Every shape is timed.
    ++Next->Timed;
  }
}

/// The representative of \p Group, whose shapes come by rising time of one launch: the one in which
/// half of the group's time is reached.
static TimedShape representativeOf(llvm::ArrayRef<TimedShape> Group) {
  double HalfNs = ownNs(Group) / 2, BeforeNs = 0;
  size_t Middle = 0;
  while (Middle + 1 < Group.size() && BeforeNs + Group[Middle].totalNs() < HalfNs)
    BeforeNs += Group[Middle++].totalNs();
  TimedShape Chosen = Group[Middle];
  for (size_t I = 0; I < Group.size(); ++I) {
    if (I == Middle)
      continue;
    Chosen.StandsFor.push_back(Group[I].Shape);
    Chosen.StandsForNs += Group[I].totalNs();
  }
  return Chosen;
}

/// The shapes of \p Class that are timed: Class.Timed many.
static std::vector<TimedShape> representativesOf(ShapeClass Class) {
  std::vector<TimedShape> Chosen;
  size_t Alone = 0, Groups = Class.Timed;
  double LeftNs = Class.TotalNs;
  while (Groups > 0 && Alone < Class.Shapes.size() &&
         Class.Shapes[Alone].totalNs() >= LeftNs / double(Groups)) {
    LeftNs -= Class.Shapes[Alone].totalNs();
    Chosen.push_back(Class.Shapes[Alone++]);
    --Groups;
  }
  std::vector<TimedShape> Left(Class.Shapes.begin() + Alone, Class.Shapes.end());
  llvm::stable_sort(Left,
                    [](const TimedShape &A, const TimedShape &B) { return A.MeanNs < B.MeanNs; });
  // Each shape goes to the group in which the middle of its time lies. It has less time than a
  // group, so no group is left without a shape.
  double BeforeNs = 0;
  for (size_t Begin = 0, Group = 0; Group < Groups; ++Group) {
    size_t End = Begin;
    for (double EndNs = LeftNs * double(Group + 1) / double(Groups);
         End < Left.size() && (Group + 1 == Groups || BeforeNs + Left[End].totalNs() / 2 < EndNs);
         ++End)
      BeforeNs += Left[End].totalNs();
    if (Begin < End)
      Chosen.push_back(representativeOf(llvm::ArrayRef(Left).slice(Begin, End - Begin)));
    Begin = End;
  }
  return Chosen;
}

std::vector<TimedShape> carve::representativeShapes(const TracedKernel &Kernel, size_t Most) {
  std::vector<TimedShape> Launched = dividedShapes(Kernel);
  double WantedNs = ShareTimed * tracedNs(Kernel);
  std::vector<TimedShape> OneByOne = heaviest(Launched, WantedNs);
  if (OneByOne.size() == Launched.size() || ownNs(OneByOne) >= WantedNs)
    return OneByOne;
  std::vector<ShapeClass> Classes = classesOf(Launched);
  shareOut(Classes, WantedNs, Most);
  std::vector<TimedShape> Chosen;
  for (ShapeClass &C : Classes)
    llvm::append_range(Chosen, representativesOf(std::move(C)));
  llvm::stable_sort(
      Chosen, [](const TimedShape &A, const TimedShape &B) { return A.groupNs() > B.groupNs(); });
  return Chosen;
}

std::set<LaunchShape> carve::shapesWithTimes(const InRunRecord &Record, llvm::StringRef Kernel) {
  std::set<LaunchShape> Timed;
  for (const TimedSample &T : Record.Timed)
    if (T.Place.Kernel == Kernel)
      Timed.insert(T.Place.Shape);
  for (const RotatedSample &R : Record.Rotated)
    if (R.Kernel == Kernel)
      Timed.insert(R.Shape);
  return Timed;
}

std::vector<TimedShape> carve::shapesTimedIn(const InRunRecord &Record,
                                             const TracedKernel &Kernel) {
  const std::set<LaunchShape> Timed = shapesWithTimes(Record, Kernel.Kernel);
  std::vector<TimedShape> Best;
  double MostTimed = 0;
  auto Consider = [&](std::vector<TimedShape> Shapes) {
    auto Count = llvm::count_if(Shapes, [&](const TimedShape &S) { return Timed.count(S.Shape); });
    double Part = double(Count) / double(std::max<size_t>(1, Shapes.size()));
    if (Part <= MostTimed)
      return;
    MostTimed = Part;
    Best = std::move(Shapes);
  };
  Consider(timedShapes(Kernel));
  Consider(segmentedShapes(Kernel));
  for (size_t Most : RepresentativeCounts)
    Consider(representativeShapes(Kernel, Most));
  return Best;
}
