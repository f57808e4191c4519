#include "Probe/Driver/Plan.h"

#include "Probe/Driver/PlanLines.h"
#include "Protocol/TraceRecords.h"

#include <algorithm>
#include <iterator>

using namespace carve::probe;
using namespace carve;

namespace {
/// What has been read of a plan. The lines of a kernel may be in any order, so the records that
/// name variants or shapes wait until the last line is read.
struct PlanReading {
  Plan &P;
  std::vector<ExcludeRecord> Excluded;
  std::vector<MeasureRecord> Measured;
  std::vector<CompareRecord> ToCompare;
  std::vector<LaunchesToReplay> ToReplay;

  bool take(RecordReader &In);
  bool takeKernelLine(RecordReader &In);
  bool finish();
};
} // namespace

bool PlanReading::takeKernelLine(RecordReader &In) {
  return takeRecord<KernelRecord>(In,
                                  [&](const KernelRecord &R) {
                                    PlannedKernel &Kernel = P.Kernels[R.Kernel];
                                    Kernel.Name = R.Kernel;
                                    Kernel.Mode = R.Mode;
                                    Kernel.MayRotate = R.MayRotate;
                                  }) ||
         takeRecord<VariantRecord>(In,
                                   [&](const VariantRecord &R) {
                                     P.Kernels[R.Kernel].Variants.push_back(
                                         {R.Variant, R.Clone, R.Guard});
                                   }) ||
         takeRecord<GuardRecord>(In,
                                 [&](const GuardRecord &R) {
                                   P.Kernels[R.Kernel].Guards[R.Guard].Values.push_back(R);
                                 }) ||
         takeRecord<GuardedShape>(
             In, [&](const GuardedShape &R) { P.Kernels[R.Kernel].Guards[R.Guard].Shape = R; }) ||
         takeRecord<GuardedPointer>(In,
                                    [&](const GuardedPointer &R) {
                                      P.Kernels[R.Kernel].Guards[R.Guard].Apart.push_back(R);
                                    }) ||
         takeRecord<PlannedShape>(
             In, [&](const PlannedShape &R) { P.Kernels[R.Kernel].Shapes.push_back(R); }) ||
         takeRecord<LaunchesToReplay>(In,
                                      [&](const LaunchesToReplay &R) { ToReplay.push_back(R); }) ||
         takeRecord<PlannedClass>(In,
                                  [&](const PlannedClass &R) {
                                    P.Kernels[R.Kernel].Classes[R.Shape.undivided()][R.Key] =
                                        R.Shape.Class;
                                  }) ||
         takeRecord<PlannedSegment>(In,
                                    [&](const PlannedSegment &R) {
                                      P.Kernels[R.Kernel].Segments[R.Shape.undivided()][R.First] =
                                          R.Shape.Class;
                                    }) ||
         takeRecord<ConstantRecord>(
             In,
             [&](const ConstantRecord &R) { P.Kernels[R.Kernel].Constants.insert(R.Variable); }) ||
         takeRecord<ExcludeRecord>(In, [&](const ExcludeRecord &R) { Excluded.push_back(R); }) ||
         takeRecord<MeasureRecord>(In, [&](const MeasureRecord &R) { Measured.push_back(R); }) ||
         takeRecord<CompareRecord>(In, [&](const CompareRecord &R) { ToCompare.push_back(R); });
}

bool PlanReading::take(RecordReader &In) {
  return takeRecord<SeedRecord>(In, [&](SeedRecord R) { P.Seed = R.Seed; }) ||
         takeRecord<ReplayLimitRecord>(In, [&](ReplayLimitRecord R) { P.ReplayMs = R.Ms; }) ||
         takeRecord<HangLimitRecord>(In, [&](HangLimitRecord R) { P.HangMs = R.Ms; }) ||
         takeKernelLine(In);
}

/// Moves the default and its control copy before the other variants of \p Kernel. Returns false if
/// names are missing or occur twice, other than with different guards.
static bool orderVariants(PlannedKernel &Kernel) {
  auto &Variants = Kernel.Variants;
  auto Control = std::find_if(Variants.begin(), Variants.end(),
                              [](const auto &V) { return V.Name == ControlVariant; });
  if (!Variants.empty() && Control == Variants.end())
    return false;
  if (Control != Variants.end())
    std::rotate(Variants.begin(), Control, Control + 1);
  Variants.insert(Variants.begin(), {DefaultVariant, Kernel.Name});
  std::map<std::string, std::set<unsigned>> GuardsOf;
  return std::all_of(Variants.begin(), Variants.end(), [&](const PlannedKernel::Variant &V) {
    std::set<unsigned> &Guards = GuardsOf[V.Name];
    // A variant without a guard is all that there is of its name.
    return (Guards.empty() || (V.Guard != 0 && !Guards.count(0))) && Guards.insert(V.Guard).second;
  });
}

/// Adds the numbers of the variants that each of \p Records names to the set \p Of of its kernel.
/// Returns false if a kernel or variant is unknown.
template <class T>
static bool number(Plan &P, const std::vector<T> &Records, std::set<size_t> PlannedKernel::*Of) {
  for (const T &Record : Records) {
    PlannedKernel &Kernel = P.Kernels[Record.Kernel];
    bool Found = false;
    for (size_t V = 0; V < Kernel.Variants.size(); ++V)
      if (Kernel.Variants[V].Name == Record.Variant) {
        (Kernel.*Of).insert(V);
        Found = true;
      }
    if (!Found)
      return false;
  }
  return true;
}

/// Tells the shapes which of their launches are replayed. Returns false if one is unknown.
static bool setReplayed(Plan &P, const std::vector<LaunchesToReplay> &Records) {
  for (const LaunchesToReplay &Record : Records) {
    auto &Shapes = P.Kernels[Record.Kernel].Shapes;
    auto Its = std::find_if(Shapes.begin(), Shapes.end(),
                            [&](const PlannedShape &S) { return S.Shape == Record.Shape; });
    if (Its == Shapes.end())
      return false;
    Its->Replayed = Record;
  }
  return true;
}

/// Returns whether the probe can do what the plan says of \p Kernel.
static bool isSound(const PlannedKernel &Kernel) {
  // A kernel without a name has shapes or variants but no line of its own.
  if (Kernel.Name.empty() || Kernel.Mode == TimingMode::Fixed)
    return false;
  // The program must never get what a measured variant computes.
  if (!Kernel.Measured.empty() && Kernel.mayBecomeVariants())
    return false;
  auto SameAsFirst = [&](const auto &V) { return V.Name == Kernel.Variants[FirstPlace].Name; };
  if (Kernel.Mode == TimingMode::Dispatch &&
      (Kernel.Variants.size() <= FirstPlace ||
       !std::all_of(Kernel.Variants.begin() + FirstPlace, Kernel.Variants.end(), SameAsFirst)))
    return false;
  auto HasGuard = [&](const auto &V) { return V.Guard == 0 || Kernel.Guards.count(V.Guard); };
  auto CanBeRead = [](const auto &Entry) {
    return std::all_of(Entry.second.Values.begin(), Entry.second.Values.end(),
                       [](const GuardRecord &R) { return ArgumentRecord::isRecorded(R.Bytes); });
  };
  return std::all_of(Kernel.Variants.begin(), Kernel.Variants.end(), HasGuard) &&
         std::all_of(Kernel.Guards.begin(), Kernel.Guards.end(), CanBeRead);
}

bool PlanReading::finish() {
  for (auto &[Name, Kernel] : P.Kernels)
    if (!orderVariants(Kernel))
      return false;
  if (!number(P, Excluded, &PlannedKernel::Excluded) ||
      !number(P, Measured, &PlannedKernel::Measured) ||
      !number(P, ToCompare, &PlannedKernel::ToCompare) || !setReplayed(P, ToReplay))
    return false;
  return std::all_of(P.Kernels.begin(), P.Kernels.end(),
                     [](const auto &Entry) { return isSound(Entry.second); });
}

bool Plan::read(const char *File) {
  PlanReading Reading{*this, {}, {}, {}, {}};
  return readPlanLines(File, PlanFile, [&](RecordReader &In) { return Reading.take(In); }) &&
         Reading.finish();
}

const PlannedKernel *Plan::find(std::string_view Kernel) const {
  auto It = Kernels.find(std::string(Kernel));
  return It == Kernels.end() ? nullptr : &It->second;
}

const PlannedShape *PlannedKernel::find(const LaunchShape &Shape) const {
  for (const PlannedShape &S : Shapes)
    if (S.Shape == Shape)
      return &S;
  return nullptr;
}

LaunchShape PlannedKernel::inClass(LaunchShape Shape, uint64_t Key) const {
  auto Found = Classes.find(Shape);
  if (Found == Classes.end())
    return Shape;
  auto Class = Found->second.find(Key);
  if (Class == Found->second.end())
    Class = Found->second.find(0);
  if (Class != Found->second.end())
    Shape.Class = Class->second;
  return Shape;
}

LaunchShape PlannedKernel::inSegment(LaunchShape Shape, uint64_t Number) const {
  const std::map<uint64_t, uint32_t> &Begins = Segments.at(Shape);
  if (auto Next = Begins.upper_bound(Number); Next != Begins.begin())
    Shape.Class = std::prev(Next)->second;
  return Shape;
}

bool PlannedKernel::Guard::allows(const LaunchShape &Launched) const {
  constexpr std::array<uint32_t, 3> Any{0, 0, 0};
  return (Shape.Grid == Any || Shape.Grid == Launched.Grid) &&
         (Shape.Block == Any || Shape.Block == Launched.Block);
}

bool PlannedKernel::mayRunIn(size_t Variant, const LaunchShape &Shape) const {
  unsigned Guard = Variants[Variant].Guard;
  return Guard == 0 || Guards.at(Guard).allows(Shape);
}
