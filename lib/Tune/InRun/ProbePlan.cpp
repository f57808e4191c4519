#include "Tune/InRun/ProbePlan.h"

#include "Protocol/PlanRecords.h"
#include "Protocol/RecordWriter.h"

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

static std::string printKernel(const std::string &Kernel, llvm::ArrayRef<JobVariant> Variants,
                               const ModeChoice &Choice, const std::set<std::string> &Excluded) {
  std::string Text = recordLine(KernelRecord{Kernel, Choice.Mode, Choice.MayRotate});
  std::vector<std::string> Names = namesOf(Variants);
  for (size_t V = 1; V < Names.size(); ++V)
    if (Variants[V].InModule)
      Text += recordLine(VariantRecord{Kernel, Names[V], Variants[V].CloneName});
  // The probe counts the launches of one process, so the plan has the mean per process.
  for (const TimedShape &S : Choice.Shapes)
    Text += recordLine(PlannedShape{Kernel, S.Shape,
                                    std::max<uint64_t>(1, S.Launches / std::max(1u, S.Processes)),
                                    uint64_t(std::llround(S.MeanNs))});
  for (const std::string &Variant : Excluded)
    Text += recordLine(ExcludeRecord{Kernel, Variant});
  for (size_t V = 0; V < Names.size(); ++V)
    if (Variants[V].InModule && Variants[V].OnlyTimed)
      Text += recordLine(MeasureRecord{Kernel, Names[V]});
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
    Text += printKernel(Kernel, Made.Variants, Choices[K], Faulty);
  }
  return Text;
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
