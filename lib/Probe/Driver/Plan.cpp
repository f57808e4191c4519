#include "Probe/Driver/Plan.h"

#include "Probe/Driver/PlanLines.h"
#include "Protocol/TraceRecords.h"

#include <algorithm>

using namespace carve::probe;
using namespace carve;

namespace {
/// What has been read of a plan. The lines of a kernel may be in any order, so the records that
/// name variants wait until the last line is read.
struct PlanReading {
  Plan &P;
  std::vector<ExcludeRecord> Excluded;
  std::vector<MeasureRecord> Measured;

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
                                         {R.Variant, R.Clone, R.Guarded});
                                   }) ||
         takeRecord<GuardRecord>(
             In, [&](const GuardRecord &R) { P.Kernels[R.Kernel].Guards.push_back(R); }) ||
         takeRecord<PlannedShape>(
             In, [&](const PlannedShape &R) { P.Kernels[R.Kernel].Shapes.push_back(R); }) ||
         takeRecord<ExcludeRecord>(In, [&](const ExcludeRecord &R) { Excluded.push_back(R); }) ||
         takeRecord<MeasureRecord>(In, [&](const MeasureRecord &R) { Measured.push_back(R); });
}

bool PlanReading::take(RecordReader &In) {
  return takeRecord<SeedRecord>(In, [&](SeedRecord R) { P.Seed = R.Seed; }) ||
         takeRecord<ReplayLimitRecord>(In, [&](ReplayLimitRecord R) { P.ReplayMs = R.Ms; }) ||
         takeRecord<HangLimitRecord>(In, [&](HangLimitRecord R) { P.HangMs = R.Ms; }) ||
         takeKernelLine(In);
}

/// Moves the default and its control copy before the other variants of \p Kernel. Returns false if
/// names are missing or occur twice.
static bool orderVariants(PlannedKernel &Kernel) {
  auto &Variants = Kernel.Variants;
  auto Control = std::find_if(Variants.begin(), Variants.end(),
                              [](const auto &V) { return V.Name == ControlVariant; });
  if (!Variants.empty() && Control == Variants.end())
    return false;
  if (Control != Variants.end())
    std::rotate(Variants.begin(), Control, Control + 1);
  Variants.insert(Variants.begin(), {DefaultVariant, Kernel.Name});
  std::set<std::string> Names;
  return std::all_of(Variants.begin(), Variants.end(),
                     [&](const auto &V) { return Names.insert(V.Name).second; });
}

/// Adds the number of the variant that each of \p Records names to the set \p Of of its kernel.
/// Returns false if a kernel or variant is unknown.
template <class T>
static bool number(Plan &P, const std::vector<T> &Records, std::set<size_t> PlannedKernel::*Of) {
  for (const T &Record : Records) {
    PlannedKernel &Kernel = P.Kernels[Record.Kernel];
    std::optional<size_t> Number = Kernel.find(Record.Variant);
    if (!Number)
      return false;
    (Kernel.*Of).insert(*Number);
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
  if (Kernel.Mode == TimingMode::Dispatch && Kernel.Variants.size() != FirstPlace + 1)
    return false;
  return std::all_of(Kernel.Guards.begin(), Kernel.Guards.end(),
                     [](const GuardRecord &R) { return ArgumentRecord::isRecorded(R.Bytes); });
}

bool PlanReading::finish() {
  for (auto &[Name, Kernel] : P.Kernels)
    if (!orderVariants(Kernel))
      return false;
  if (!number(P, Excluded, &PlannedKernel::Excluded) ||
      !number(P, Measured, &PlannedKernel::Measured))
    return false;
  return std::all_of(P.Kernels.begin(), P.Kernels.end(),
                     [](const auto &Entry) { return isSound(Entry.second); });
}

bool Plan::read(const char *File) {
  PlanReading Reading{*this, {}, {}};
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

std::optional<size_t> PlannedKernel::find(std::string_view Name) const {
  for (size_t V = 0; V < Variants.size(); ++V)
    if (Variants[V].Name == Name)
      return V;
  return std::nullopt;
}
