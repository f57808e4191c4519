#include "Tune/InRun/ProbePlan.h"

#include "Protocol/PlanRecords.h"
#include "Protocol/RecordWriter.h"
#include "Tune/InRun/LaunchDivision.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace carve;

/// The names of \p Variants of \p Kernel that are in the module and have an entry in \p Faults.
static std::set<std::string> excludedOf(llvm::StringRef Kernel, llvm::ArrayRef<JobVariant> Variants,
                                        llvm::ArrayRef<VariantFault> Faults) {
  std::set<std::string> Excluded;
  std::vector<std::string> Names = namesOf(Variants);
  for (const VariantFault &F : Faults)
    for (size_t V = 0; V < Names.size(); ++V)
      if (F.Kernel == Kernel && F.Variant == Names[V] && Variants[V].InModule)
        Excluded.insert(F.Variant);
  return Excluded;
}

/// Prints guard number \p Number of \p Kernel, which says what is true of a launch.
static std::string printGuard(const std::string &Kernel, unsigned Number,
                              const KnownLaunch &Known) {
  constexpr std::array<uint32_t, 3> Any{0, 0, 0};
  std::string Text =
      recordLine(GuardedShape{Kernel, Number, Known.Grid.value_or(Any), Known.Block.value_or(Any)});
  for (const ArgumentValue &V : Known.Values)
    Text += recordLine(GuardRecord{{Kernel, V.Parameter, V.Bytes, V.Bits, V.Offset}, Number});
  for (const PointerPlace &P : Known.Apart)
    Text += recordLine(GuardedPointer{Kernel, Number, P.Parameter, P.Offset});
  return Text;
}

/// Prints the kernel's variants that are in the module, apart from the default, and the launches
/// for which some of them are compiled.
static std::string printVariants(const JobKernel &Kernel, llvm::ArrayRef<JobVariant> Variants,
                                 llvm::function_ref<bool(size_t)> IsWanted) {
  const std::string &Name = Kernel.Traced.Kernel;
  std::string Text;
  std::vector<std::string> Names = namesOf(Variants);
  std::vector<KnownLaunch> Guards; // Variants that rely on the same have one guard.
  for (size_t V = 1; V < Names.size(); ++V) {
    if (!Variants[V].InModule || !IsWanted(V))
      continue;
    if (!isDispatched(Variants[V]))
      Text += recordLine(VariantRecord{Name, Names[V], Variants[V].CloneName, 0});
    for (const GuardedCode &C : Variants[V].Codes) {
      size_t Guard = llvm::find(Guards, C.Launch) - Guards.begin();
      if (Guard == Guards.size())
        Guards.push_back(C.Launch);
      Text += recordLine(VariantRecord{Name, Names[V], C.CloneName, unsigned(Guard + 1)});
    }
  }
  for (size_t G = 0; G < Guards.size(); ++G)
    Text += printGuard(Name, unsigned(G + 1), Guards[G]);
  return Text;
}

static std::string printShapes(const std::string &Kernel, llvm::ArrayRef<TimedShape> Shapes) {
  std::string Text;
  // The probe counts the launches of one process, so the plan has the mean per process.
  for (const TimedShape &S : Shapes)
    Text += recordLine(PlannedShape{Kernel, S.Shape,
                                    std::max<uint64_t>(1, S.Launches / std::max(1u, S.Processes)),
                                    uint64_t(std::llround(S.replayedNs()))});
  return Text;
}

/// Prints what divides those of \p Timed that are classes of a shape.
static std::string printClasses(const TracedKernel &Kernel, llvm::ArrayRef<TimedShape> Timed) {
  auto IsTimed = [&](const LaunchShape &Of) {
    return llvm::any_of(Timed, [&](const TimedShape &S) {
      return S.Shape.Class && S.Shape.undivided() == Of.undivided();
    });
  };
  std::string Text;
  const LaunchDivision Divided = divideBySegments(Kernel);
  for (const PlannedClass &C : Divided.Classes)
    if (IsTimed(C.Shape))
      Text += recordLine(C);
  for (const PlannedSegment &S : Divided.Segments)
    if (IsTimed(S.Shape))
      Text += recordLine(S);
  return Text;
}

static std::string printKernel(const JobKernel &Job, llvm::ArrayRef<JobVariant> Variants,
                               const ModeChoice &Choice, const std::set<std::string> &Excluded) {
  const std::string &Kernel = Job.Traced.Kernel;
  std::string Text = recordLine(KernelRecord{Kernel, Choice.Mode, Choice.MayRotate}) +
                     printVariants(Job, Variants, [](size_t) { return true; });
  std::vector<std::string> Names = namesOf(Variants);
  Text += printShapes(Kernel, Choice.Shapes) + printClasses(Job.Traced, Choice.Shapes);
  for (const TimedShape &S : Choice.Shapes)
    if (S.Typical && isReplayed(Choice.Mode))
      Text += recordLine(LaunchesToReplay{Kernel, S.Shape, S.Typical->First, S.Typical->Second});
  for (const std::string &Variable : Job.Hazards.Constants)
    Text += recordLine(ConstantRecord{Kernel, Variable});
  for (const std::string &Variant : Excluded)
    Text += recordLine(ExcludeRecord{Kernel, Variant});
  for (size_t V = 0; V < Names.size(); ++V)
    if (Variants[V].InModule && Variants[V].OnlyTimed)
      Text += recordLine(MeasureRecord{Kernel, Names[V]});
  for (size_t V = 0; V < Names.size(); ++V)
    if (Variants[V].InModule && needsComparedOutput(Variants[V]))
      Text += recordLine(CompareRecord{Kernel, Names[V]});
  return Text;
}

std::string carve::printPlan(const TuningJob &Job, const JobBuild &Built,
                             llvm::ArrayRef<ModeChoice> Choices,
                             llvm::ArrayRef<VariantFault> Excluded, const PlanLimits &Limits) {
  std::string Text = headOf(PlanFile) + "\n" + recordLine(SeedRecord{Limits.Seed}) +
                     recordLine(ReplayLimitRecord{Limits.ReplayMs}) +
                     recordLine(HangLimitRecord{Limits.HangMs});
  for (size_t K = 0; K < Choices.size(); ++K) {
    const std::string &Kernel = Job.Kernels[K].Traced.Kernel;
    const KernelBuild &Made = Built.Kernels[K];
    std::set<std::string> Faulty = excludedOf(Kernel, Made.Variants, Excluded);
    if (Choices[K].Mode == TimingMode::Fixed || Faulty.count(DefaultVariant) ||
        Made.timedTogether() < Faulty.size() + 3)
      continue;
    // If it were rotated, the program would use the wrong results of such a variant.
    bool OnlyTimed = llvm::any_of(Made.Variants, [](const JobVariant &V) { return V.OnlyTimed; });
    if (OnlyTimed && (Choices[K].Mode != TimingMode::Replay || Choices[K].MayRotate))
      continue;
    Text += printKernel(Job.Kernels[K], Made.Variants, Choices[K], Faulty);
  }
  return Text;
}

std::string carve::printDispatchPlan(const TuningJob &Job, const JobBuild &Built,
                                     const Assignment &A) {
  std::string Kernels;
  for (size_t K = 0; K < A.size(); ++K) {
    const std::vector<JobVariant> &Variants = Built.Kernels[K].Variants;
    if (!A[K] || !isDispatched(Variants[A[K]]))
      continue;
    const JobKernel &Kernel = Job.Kernels[K];
    const std::string &Name = Kernel.Traced.Kernel;
    Kernels +=
        recordLine(KernelRecord{Name, TimingMode::Dispatch, false}) +
        printVariants(Kernel, Variants, [&](size_t V) { return V == ControlPlace || V == A[K]; }) +
        printShapes(Name, launchedShapes(Kernel.Traced));
  }
  return Kernels.empty() ? Kernels : headOf(PlanFile) + "\n" + recordLine(SeedRecord()) + Kernels;
}

void carve::keepPlanned(InRunRecord &Record, const TuningJob &Job, const JobBuild &Built) {
  std::set<std::pair<std::string, std::string>> Planned;
  for (auto [K, Made] : llvm::zip_equal(Job.Kernels, Built.Kernels)) {
    std::vector<std::string> Names = namesOf(Made.Variants);
    for (size_t V = 0; V < Names.size(); ++V)
      if (Made.Variants[V].InModule)
        Planned.emplace(K.Traced.Kernel, Names[V]);
  }
  auto Keep = [&](auto &Records, auto KernelOf) {
    llvm::erase_if(Records,
                   [&](const auto &R) { return !Planned.count({KernelOf(R), R.Variant}); });
  };
  auto OfPlace = [](const auto &R) { return R.Place.Kernel; };
  auto Own = [](const auto &R) { return R.Kernel; };
  Keep(Record.Verified, OfPlace);
  Keep(Record.Timed, OfPlace);
  Keep(Record.Rotated, Own);
  Keep(Record.Faults, Own);
}
