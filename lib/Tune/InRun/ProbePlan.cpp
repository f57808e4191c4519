#include "Tune/InRun/ProbePlan.h"

#include "Protocol/PlanRecords.h"
#include "Protocol/RecordWriter.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace carve;

/// The names of the variants of \p K that are in the module and have an entry in \p Faults.
static std::set<std::string> excludedOf(const JobKernel &K, llvm::ArrayRef<VariantFault> Faults) {
  std::set<std::string> Excluded;
  std::vector<std::string> Names = namesOf(K.Variants);
  for (const VariantFault &F : Faults)
    for (size_t V = 0; V < Names.size(); ++V)
      if (F.Kernel == K.Traced.Kernel && F.Variant == Names[V] && K.Variants[V].InModule)
        Excluded.insert(F.Variant);
  return Excluded;
}

static std::string printKernel(const JobKernel &K, const ModeChoice &Choice,
                               const std::set<std::string> &Excluded) {
  const std::string &Kernel = K.Traced.Kernel;
  std::string Text = recordLine(KernelRecord{Kernel, Choice.Mode, Choice.MayRotate});
  std::vector<std::string> Names = namesOf(K.Variants);
  for (size_t V = 1; V < Names.size(); ++V)
    if (K.Variants[V].InModule)
      Text += recordLine(VariantRecord{Kernel, Names[V], K.Variants[V].CloneName});
  // The probe counts the launches of one process, so the plan has the mean per process.
  for (const TimedShape &S : Choice.Shapes)
    Text += recordLine(PlannedShape{Kernel, S.Shape,
                                    std::max<uint64_t>(1, S.Launches / std::max(1u, S.Processes)),
                                    uint64_t(std::llround(S.MeanNs))});
  for (const std::string &Variant : Excluded)
    Text += recordLine(ExcludeRecord{Kernel, Variant});
  for (size_t V = 0; V < Names.size(); ++V)
    if (K.Variants[V].InModule && K.Variants[V].OnlyTimed)
      Text += recordLine(MeasureRecord{Kernel, Names[V]});
  return Text;
}

std::string carve::printPlan(const TuningJob &Job, llvm::ArrayRef<ModeChoice> Choices,
                             llvm::ArrayRef<VariantFault> Excluded, const PlanLimits &Limits) {
  std::string Text = headOf(PlanFile) + "\n" + recordLine(SeedRecord{Limits.Seed}) +
                     recordLine(ReplayLimitRecord{Limits.ReplayMs}) +
                     recordLine(HangLimitRecord{Limits.HangMs});
  for (size_t K = 0; K < Choices.size(); ++K) {
    const JobKernel &Kernel = Job.Kernels[K];
    std::set<std::string> Faulty = excludedOf(Kernel, Excluded);
    if (Choices[K].Mode == TimingMode::Fixed || Faulty.count(DefaultVariant) ||
        Kernel.timedTogether() < Faulty.size() + 3)
      continue;
    // If it were rotated, the program would use the wrong results of such a variant.
    bool OnlyTimed = llvm::any_of(Kernel.Variants, [](const JobVariant &V) { return V.OnlyTimed; });
    if (OnlyTimed && (Choices[K].Mode != TimingMode::Replay || Choices[K].MayRotate))
      continue;
    Text += printKernel(Kernel, Choices[K], Faulty);
  }
  return Text;
}

void carve::keepPlanned(InRunRecord &Record, const TuningJob &Job) {
  std::set<std::pair<std::string, std::string>> Planned;
  for (const JobKernel &K : Job.Kernels) {
    std::vector<std::string> Names = namesOf(K.Variants);
    for (size_t V = 0; V < Names.size(); ++V)
      if (K.Variants[V].InModule)
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
