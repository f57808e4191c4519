#include "Tune/InRun/ProbePlan.h"

#include "Protocol/Protocol.h"
#include "Workload/ProbeFields.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace carve;

/// Of the variants in the module, by their number in the plan, the job's numbers.
static std::vector<size_t> plannedVariants(const JobKernel &K) {
  std::vector<size_t> Planned;
  for (size_t V = 0; V < K.Variants.size(); ++V)
    if (K.Variants[V].InModule)
      Planned.push_back(V);
  return Planned;
}

/// The variants of \p K at fault, by their number in the plan.
static std::set<size_t> excludedOf(const JobKernel &K,
                                   llvm::ArrayRef<InRunRecord::Fault> Excluded) {
  std::vector<size_t> Planned = plannedVariants(K);
  std::set<size_t> Variants;
  for (const InRunRecord::Fault &F : Excluded)
    if (auto At = llvm::find(Planned, F.Variant);
        F.Kernel == K.Traced.Kernel && At != Planned.end())
      Variants.insert(At - Planned.begin());
  return Variants;
}

static void printKernel(llvm::raw_ostream &OS, const JobKernel &K, const ModeChoice &Choice,
                        const std::set<size_t> &Excluded) {
  const std::string &Name = K.Traced.Kernel;
  OS << "kernel\t" << Name << '\t' << nameOf(Choice.Mode) << '\t'
     << (Choice.MayRotate ? "rotate" : "none");
  for (const JobVariant &V : llvm::drop_begin(K.Variants))
    if (V.InModule)
      OS << '\t' << V.CloneName;
  OS << '\n';
  // The probe counts launches by process.
  for (const TimedShape &S : Choice.Shapes)
    OS << "shape\t" << Name << '\t' << shapeFields(S.Shape) << '\t'
       << std::max<uint64_t>(1, S.Launches / std::max(1u, S.Processes)) << '\t'
       << std::llround(S.MeanNs) << '\n';
  for (size_t Variant : Excluded)
    OS << "exclude\t" << Name << '\t' << Variant << '\n';
  for (auto [Number, V] : llvm::enumerate(plannedVariants(K)))
    if (K.Variants[V].OnlyTimed)
      OS << "measure\t" << Name << '\t' << Number << '\n';
}

std::string carve::printPlan(const TuningJob &Job, llvm::ArrayRef<ModeChoice> Choices,
                             llvm::ArrayRef<InRunRecord::Fault> Excluded,
                             const PlanLimits &Limits) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  OS << "carve-plan\t" << probe::PlanVersion << "\nseed\t" << Limits.Seed << "\nreplay-ms\t"
     << Limits.ReplayMs << "\nhang-ms\t" << Limits.HangMs << '\n';
  for (size_t K = 0; K < Choices.size(); ++K) {
    const JobKernel &Kernel = Job.Kernels[K];
    std::set<size_t> Faulty = excludedOf(Kernel, Excluded);
    if (Choices[K].Mode == TimingMode::Fixed || Faulty.count(0) ||
        Kernel.timedTogether() < Faulty.size() + 3)
      continue;
    // Rotating would leave the program with what such a variant computes.
    bool OnlyTimed = llvm::any_of(Kernel.Variants, [](const JobVariant &V) { return V.OnlyTimed; });
    if (OnlyTimed && (Choices[K].Mode != TimingMode::Replay || Choices[K].MayRotate))
      continue;
    printKernel(OS, Kernel, Choices[K], Faulty);
  }
  return Text;
}

void carve::renumberVariants(
    InRunRecord &Record,
    llvm::function_ref<std::optional<size_t>(const std::string &, size_t)> NewNumber) {
  auto Renumber = [&](auto &List, auto KernelOf) {
    llvm::erase_if(List, [&](auto &Item) {
      std::optional<size_t> New = NewNumber(KernelOf(Item), Item.Variant);
      Item.Variant = New.value_or(0);
      return !New;
    });
  };
  auto OfPlace = [](const auto &Item) -> const std::string & { return Item.Place.Kernel; };
  auto Own = [](const auto &Item) -> const std::string & { return Item.Kernel; };
  Renumber(Record.Verified, OfPlace);
  Renumber(Record.Timed, OfPlace);
  Renumber(Record.Rotated, Own);
  Renumber(Record.Faults, Own);
}

void carve::takePlanNumbers(InRunRecord &Record, const TuningJob &Job) {
  std::map<std::string, std::vector<size_t>> Planned;
  for (const JobKernel &K : Job.Kernels)
    Planned[K.Traced.Kernel] = plannedVariants(K);
  renumberVariants(Record, [&](const std::string &Kernel, size_t V) -> std::optional<size_t> {
    auto K = Planned.find(Kernel);
    if (K == Planned.end() || V >= K->second.size())
      return std::nullopt;
    return K->second[V];
  });
}
