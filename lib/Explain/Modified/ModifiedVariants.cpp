#include "Explain/Modified/ModifiedVariants.h"

#include "Cubin/AllottedRegisters.h"
#include "Cubin/Cubin.h"
#include "Explain/Modified/ModifiedModule.h"
#include "Support/Log.h"
#include "Support/Parallel.h"
#include "Tune/InRun/InRunRounds.h"
#include "Tune/Job/DeviceLinks.h"
#include "Tune/Variants/VariantCompiler.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace carve;

static void addReason(std::string &Reason, const std::string &More) {
  if (!More.empty() && Reason.find(More) == std::string::npos)
    Reason += (Reason.empty() ? "" : "; ") + More;
}

/// Adds the versions of \p Made to \p Built.
static void takeVersions(const ModifiedModule &Made, JobBuild &Built,
                         std::vector<ModifiedVariants> &Result) {
  for (const ModifiedVersion &V : Made.Versions) {
    KernelBuild &K = Built.Kernels[V.Kernel];
    ModifiedVariants &R = Result[V.Kernel];
    std::string Why = Made.Failure.empty() ? V.Failure : Made.Failure;
    size_t &Number = V.What == ModifiedPart::Memory ? R.Memory : R.Arithmetic;
    if (!Why.empty()) {
      addReason(R.Reason, Why);
      continue;
    }
    if (Number) // Another module already has it.
      continue;
    JobVariant Variant;
    Variant.CloneName = V.Name;
    Variant.OnlyTimed = true;
    Variant.Purpose = nameOf(V.What).str();
    auto Its = llvm::find_if(Made.Image.Kernels,
                             [&](const KernelResources &Own) { return Own.Name == V.Name; });
    Variant.Resources = *Its;
    Number = K.Variants.size();
    K.Variants.push_back(std::move(Variant));
    logLine(V.Name + ": " + llvm::utostr(Its->RegsPerThread) + " registers of its own");
  }
}

/// Allots registers after linking, because the cubin that nvlink writes decides what the code gets.
static void allotInLinks(const TuningJob &Job, JobBuild &Built) {
  for (JobLink &L : Built.Links) {
    std::map<std::string, unsigned> Least;
    auto Read = parseCubin(L.Cubin);
    if (!Read) {
      logLine(llvm::toString(Read.takeError()));
      continue;
    }
    for (auto [K, Its] : llvm::zip_equal(Job.Kernels, Built.Kernels))
      for (const JobVariant &V : Its.Variants)
        for (const CubinKernel &Own : Read->Kernels)
          if (V.OnlyTimed && Own.Resources.Name == K.Traced.Kernel)
            Least[V.CloneName] = Own.Resources.RegsPerThread;
    std::vector<std::pair<std::string, unsigned>> There;
    for (const CubinKernel &Own : Read->Kernels)
      if (auto It = Least.find(Own.Resources.Name); It != Least.end())
        There.push_back(*It);
    auto Bytes = withRegistersAllotted(L.Cubin, There);
    if (Bytes)
      L.Cubin = std::move(*Bytes);
    else
      logLine(llvm::toString(Bytes.takeError()));
  }
}

std::vector<ModifiedVariants> carve::makeModifiedVariants(const TuningJob &Job,
                                                          const JobSources &Sources,
                                                          const JobContext &Context,
                                                          const std::set<std::string> &Wanted,
                                                          JobBuild &Built) {
  std::vector<ModifiedVariants> Result(Job.Kernels.size());
  std::vector<std::vector<size_t>> OfModule(Job.Modules.size());
  for (size_t K = 0; K < Job.Kernels.size(); ++K) {
    const JobKernel &Kernel = Job.Kernels[K];
    std::vector<JobVariant> &Variants = Built.Kernels[K].Variants;
    Variants.clear();
    if (!Wanted.empty() && !Wanted.count(Kernel.Traced.Kernel))
      continue;
    Variants.resize(FirstPlace);
    Variants[DefaultPlace].CloneName = Kernel.Traced.Kernel;
    Variants[ControlPlace].CloneName = cloneName(Kernel.Traced.Kernel, {});
    for (size_t M : Kernel.Modules)
      OfModule[M].push_back(K);
  }
  std::vector<ModifiedModule> Modules;
  for (size_t M = 0; M < Job.Modules.size(); ++M) {
    Built.Modules[M].Cubin.clear();
    Modules.emplace_back(Job, M, Sources, Context);
  }
  runInParallel(Modules.size(), [&](size_t M) {
    if (!OfModule[M].empty())
      Modules[M].make(OfModule[M]);
  });
  for (size_t M = 0; M < Modules.size(); ++M) {
    takeVersions(Modules[M], Built, Result);
    Built.Modules[M].Cubin = std::move(Modules[M].Image.CubinBytes);
  }
  for (size_t M : linkKernelVariants(Job, Sources, Context, Built))
    for (size_t K : Job.Modules[M].Kernels) {
      Built.Kernels[K].Variants.clear();
      Result[K] = {0, 0, "nvlink refuses the module with its modified versions"};
    }
  allotInLinks(Job, Built);
  for (KernelBuild &K : Built.Kernels)
    if (K.Variants.size() <= FirstPlace)
      K.Variants.clear();
  return Result;
}

static const char *wordOf(Verdict V) {
  return V == Verdict::Stray ? "it wrote where the kernel does not"
                             : "the driver did not launch it";
}

/// Returns why \p Variant has no times, as far as \p Record says so.
static std::string whyUntimed(const JobKernel &K, llvm::StringRef Variant,
                              const InRunRecord &Record) {
  const std::string &Kernel = K.Traced.Kernel;
  for (const VariantFault &F : Record.Faults)
    if (F.Kernel == Kernel && F.Variant == Variant)
      return F.Why;
  for (const VerifiedVariant &V : Record.Verified)
    if (V.Place.Kernel == Kernel && V.Variant == Variant &&
        (V.Result == Verdict::Stray || V.Result == Verdict::Refused))
      return wordOf(V.Result) + (V.Detail.empty() ? "" : " (" + V.Detail + ")");
  for (const StoodBackKernel &R : Record.StoodBack)
    if (R.Kernel == Kernel)
      return "not replayed: " + R.Why;
  return "it was not timed";
}

ModifiedTimes carve::modifiedTimes(const JobKernel &K, llvm::ArrayRef<JobVariant> Variants,
                                   const ModifiedVariants &Made, const LaunchShape &Shape,
                                   const InRunRecord &Record) {
  ModifiedTimes Times;
  Times.Reason = Made.Reason;
  InRunSubject Subject;
  Subject.Kernel = K.Traced.Kernel;
  Subject.Variants = namesOf(Variants);
  InRunSubject::TracedShape Traced{Shape, 0, 0};
  for (const KernelLaunches &L : K.Traced.Shapes) {
    Traced.Launches += L.Shape == Shape ? L.Launches : 0;
    Traced.TotalNs += L.Shape == Shape ? double(L.TotalNs) : 0;
  }
  Subject.Shapes = {Traced};
  InRunShape S = inRunShapes(Subject, Record).front();
  if (S.Timing == InRunTiming::Replay)
    Times.WholeNs =
        S.WarmNs > 0 ? (1 - S.WarmWeight) * S.ColdNs + S.WarmWeight * S.WarmNs : S.ColdNs;
  auto Take = [&](size_t Variant, ModifiedPart What, double &Ns) {
    if (!Variant)
      return;
    std::vector<double> Ratios = S.ratios(Variant, false);
    llvm::append_range(Ratios, S.ratios(Variant, true));
    if (!Ratios.empty() && S.Timing == InRunTiming::Replay)
      Ns = Times.WholeNs * median(std::move(Ratios));
    else
      addReason(Times.Reason, nameOf(What).str() + ": " + whyUntimed(K, nameOf(What), Record));
  };
  Take(Made.Memory, ModifiedPart::Memory, Times.MemoryNs);
  Take(Made.Arithmetic, ModifiedPart::Arithmetic, Times.ArithmeticNs);
  return Times;
}
