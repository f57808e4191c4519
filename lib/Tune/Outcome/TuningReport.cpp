#include "Tune/Outcome/TuningReport.h"

#include "Ptx/ProfileName.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;

size_t TuningReport::tunedKernels() const {
  return llvm::count_if(Kernels, [](const KernelReport &K) { return K.Tuned; });
}

void VariantReport::setRatio(const RatioInterval &R) {
  Ratio = R.Median;
  RatioLow = R.Low;
  RatioHigh = R.High;
}

namespace {

KernelReport reportTraced(const TracedKernel &T) {
  KernelReport R;
  R.Mangled = T.Kernel;
  R.Kernel = profileName(T.Kernel);
  R.Share = T.Share;
  R.Launches = T.Launches;
  R.MeanNs = meanNs(T);
  R.Variant = "default";
  R.Shapes = shapeTexts(T);
  return R;
}

double localBytesOf(const StaticMetrics &Metrics) {
  return Metrics.Counts ? Metrics.Counts->localBytes() : 0;
}

VariantReport reportVariant(std::string Name, const StaticMetrics &Metrics) {
  VariantReport R;
  R.Name = std::move(Name);
  R.Regs = Metrics.RegsPerThread;
  R.SpillBytes = Metrics.SpillBytes;
  R.Occupancy = Metrics.Occupancy;
  R.Efficiency = Metrics.Efficiency.value_or(0);
  R.Utilization = Metrics.Utilization.value_or(0);
  R.LocalBytes = localBytesOf(Metrics);
  return R;
}

/// Adds the register region with its concurrency levels in \p Shape, and the default's metrics.
void reportRegion(KernelReport &R, const TuningJob &Job, const JobKernel &K,
                  const KernelBuild &Built, const LaunchShape &Shape) {
  R.LeastRegs = K.Region.rMin();
  R.MostRegs = K.Region.rMax();
  std::vector<CriticalPoint> Points = criticalPoints(Job.Model, K.Region, Shape);
  for (const CriticalPoint &P : llvm::reverse(Points))
    R.Levels.push_back({P.Regs, P.BlocksPerSm, P.Occupancy});
  if (Built.Variants.empty())
    return;
  const StaticMetrics &Default = Built.Variants.front().Metrics;
  R.EfficiencyBefore = Default.Efficiency.value_or(0);
  R.UtilizationBefore = Default.Utilization.value_or(0);
  R.LocalBytesBefore = localBytesOf(Default);
}

void reportVariants(KernelReport &R, const TuningJob &Job, const JobKernel &K,
                    const KernelBuild &Built, const SubjectOutcome &O) {
  for (const ScreenedVariant &S : O.Screened) {
    const JobVariant &V = Built.Variants[S.Variant];
    VariantReport Timed = reportVariant(nameOf(V), V.Metrics);
    Timed.Regs = V.Resources.RegsPerThread;
    Timed.SpillBytes = V.Resources.spillBytes();
    Timed.Occupancy = heaviestOccupancy(Job, K, V.Resources);
    if (!S.Ratios.empty())
      Timed.setRatio(ratioInterval(S.Ratios));
    Timed.Fault = S.Fault.value_or("");
    R.Variants.push_back(std::move(Timed));
  }
  for (const CarvedJobVariant &C : Built.Carved) {
    R.Carved.push_back(reportVariant(variantName(C.Setting), C.Metrics));
    R.Carved.back().Carved = C.Reason;
  }
}

/// The report of \p K with the decision \p D, without its variants.
KernelReport reportDecided(const TuningJob &Job, const JobKernel &K, const KernelBuild &Built,
                           const DecidedKernel &D) {
  KernelReport R = reportTraced(K.Traced);
  R.Source = sourceOf(Job, K);
  R.RegsBefore = D.Default.RegsPerThread;
  R.RegsAfter = D.Chosen.RegsPerThread;
  R.OccupancyBefore = D.DefaultOccupancy;
  R.OccupancyAfter = D.ChosenOccupancy;
  R.Tuned = D.Tuned;
  R.Variant = D.Composed.empty() ? variantName(D.Setting) : D.Composed;
  for (const FurtherEntry &E : D.Entries)
    R.Entries.push_back(
        {guardText(E.When), variantName(E.Variant), std::nullopt, E.Held.value_or(GuardHold())});
  R.Ratio = D.Ratio;
  R.Pairs = D.Pairs;
  R.Reason = D.Reason;
  R.InRun = D.InRun;
  reportRegion(R, Job, K, Built, heaviestShape(K.Traced));
  return R;
}

KernelReport reportKernel(const TuningJob &Job, const JobKernel &K, const KernelBuild &Built,
                          const DecidedKernel &D, const SubjectOutcome &O) {
  KernelReport R = reportDecided(Job, K, Built, D);
  R.Output = Job.Modules[K.Modules.front()].Source.Output;
  R.SpillBefore = D.Default.spillBytes();
  R.SpillAfter = D.Chosen.spillBytes();
  R.Dropped = Built.Dropped;
  R.Compiled = Built.Compiled;
  R.End = Built.End;
  reportVariants(R, Job, K, Built, O);
  if (!Built.LeftReason.empty())
    R.Reason = Built.LeftReason;
  else if (Built.Variants.size() <= FirstPlace)
    R.Reason = R.End.Untried ? StayReason(KnownReason::Budget)
                             : StayReason("no other setting gives other code that may be faster");
  return R;
}

/// Adds the ratios and rejections of the timing runs, \p O, to the variants of the kernel.
void reportTimedInRun(KernelReport &R, const InRunOutcome &O) {
  if (R.Variants.empty() || O.Timing == InRunTiming::None)
    return;
  for (size_t V = FirstPlace; V < O.Ratios.size(); ++V)
    if (R.Variants[V - FirstPlace].Ratio == 0 && O.Ratios[V] > 0)
      R.Variants[V - FirstPlace].setRatio(O.Intervals[V]);
  for (const InRunOutcome::Rejection &Out : O.Rejected)
    if (Out.Variant >= FirstPlace && R.Variants[Out.Variant - FirstPlace].Fault.empty())
      R.Variants[Out.Variant - FirstPlace].Fault = Out.Why;
}

KernelReport reportFileKernel(const TuningJob &Job, const JobBuild &Built, size_t Module,
                              const DecidedKernel &D, const SubjectOutcome &O) {
  const JobKernel &K = Job.Kernels[D.Kernel];
  KernelReport R = reportDecided(Job, K, Built.Kernels[D.Kernel], D);
  R.Output = Job.Modules[Module].Source.Output;
  for (const ScreenedVariant &S : O.Screened) {
    const JobVariant &V = Built.Modules[Module].FileVariants[S.Variant];
    KernelResources Used = resourcesIn(V.Cubin, K.Traced.Kernel);
    VariantReport Timed;
    Timed.Name = variantName(V.Setting);
    Timed.Regs = Used.RegsPerThread;
    Timed.Occupancy = heaviestOccupancy(Job, K, Used);
    if (!S.Ratios.empty())
      Timed.setRatio(ratioInterval(S.Ratios));
    Timed.Fault = S.Fault.value_or("");
    R.Variants.push_back(std::move(Timed));
  }
  return R;
}

} // namespace

void TuningReport::take(const Circumstances &When) {
  Date = When.Date;
  Workload = When.Workload;
  Device = When.Device;
  Driver = When.Driver;
  Domain = nameOf(When.Domain);
}

TuningReport carve::describeTuning(const TuningJob &Job, const JobBuild &Built, TuningScope Scope,
                                   const SelectionOutcome &Outcome, const InRunTuning *InRun,
                                   const std::vector<DecidedUnit> &Decided,
                                   const Circumstances &When) {
  TuningReport Report;
  Report.take(When);
  Report.Scope = Scope == TuningScope::File ? "file" : "kernel";
  Report.Runs = Outcome.Runs;
  Report.RunsBeforeConfirmation = Outcome.ScreeningRuns;
  if (InRun) {
    Report.Reruns = InRun->Run.Reruns;
    Report.TimingWallS = InRun->Run.WallS;
    Report.VariantsCompared =
        llvm::count_if(InRun->Run.Record.Verified,
                       [](const VerifiedVariant &V) { return !isReference(V.Variant); });
  }
  Report.Program = Outcome.Program;
  Report.ProgramWall = Outcome.Wall;
  if (Outcome.Span)
    Report.ProgramSpan = *Outcome.Span;
  Report.Pairs = Outcome.Pairs;
  Report.PairsMade = Outcome.PairsMade;
  Report.Ended = nameOf(Outcome.End);
  for (const SubjectOutcome &O : Outcome.Subjects)
    Report.VariantsTimed += O.Screened.size();
  for (const KernelBuild &K : Built.Kernels)
    Report.VariantsCompiled += K.Compiled;
  if (Scope == TuningScope::File)
    for (size_t M = 0; M < Job.Modules.size(); ++M)
      for (const DecidedKernel &D : Decided[M].Kernels)
        Report.Kernels.push_back(reportFileKernel(Job, Built, M, D, Outcome.Subjects[M]));
  else
    for (size_t K = 0; K < Job.Kernels.size(); ++K) {
      const DecidedKernel &D = *Decided[Job.Kernels[K].Modules.front()].find(K);
      Report.Kernels.push_back(
          reportKernel(Job, Job.Kernels[K], Built.Kernels[K], D, Outcome.Subjects[K]));
      if (InRun)
        reportTimedInRun(Report.Kernels.back(), InRun->Outcomes[K]);
    }
  for (const LeftKernel &L : Job.Left) {
    KernelReport R = reportTraced(L.Traced);
    R.RegsBefore = R.RegsAfter = L.DefaultRegs;
    R.Reason = L.Reason;
    Report.Kernels.push_back(std::move(R));
  }
  llvm::stable_sort(Report.Kernels,
                    [](const KernelReport &A, const KernelReport &B) { return A.Share > B.Share; });
  return Report;
}
