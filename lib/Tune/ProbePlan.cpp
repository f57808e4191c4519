#include "Tune/ProbePlan.h"

#include "Probe/Protocol.h"
#include "Tune/ProbeFields.h"

#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace carve;

/// The variants of \p Kernel at fault.
static std::set<size_t> excludedOf(const std::string &Kernel,
                                   llvm::ArrayRef<InRunRecord::Fault> Excluded) {
  std::set<size_t> Variants;
  for (const InRunRecord::Fault &F : Excluded)
    if (F.Kernel == Kernel)
      Variants.insert(F.Variant);
  return Variants;
}

static void printKernel(llvm::raw_ostream &OS, const JobKernel &K, const ModeChoice &Choice,
                        const std::set<size_t> &Excluded) {
  const std::string &Name = K.Traced.Kernel;
  OS << "kernel\t" << Name << '\t' << nameOf(Choice.Mode) << '\t'
     << (Choice.MayRotate ? "rotate" : "none");
  for (const JobVariant &V : llvm::drop_begin(K.Variants))
    OS << '\t' << V.CloneName;
  OS << '\n';
  // The probe counts launches by process.
  for (const TimedShape &S : Choice.Shapes)
    OS << "shape\t" << Name << '\t' << printShape(S.Shape) << '\t'
       << std::max<uint64_t>(1, S.Launches / std::max(1u, S.Processes)) << '\t'
       << std::llround(S.MeanNs) << '\n';
  for (size_t Variant : Excluded)
    OS << "exclude\t" << Name << '\t' << Variant << '\n';
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
    std::set<size_t> Faulty = excludedOf(Kernel.Traced.Kernel, Excluded);
    if (Choices[K].Mode == TimingMode::Fixed || Faulty.count(0) ||
        Kernel.Variants.size() < Faulty.size() + 3)
      continue;
    printKernel(OS, Kernel, Choices[K], Faulty);
  }
  return Text;
}
