#include "Tune/Outcome/TuningReport.h"

#include "Cubin/Cubin.h"
#include "Ptx/ProfileName.h"
#include "Store/UnitStore.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

using namespace carve;

size_t TuningReport::tunedKernels() const {
  return llvm::count_if(Kernels, [](const KernelReport &K) { return K.Tuned; });
}

void VariantReport::setRatio(const RatioInterval &R) {
  Ratio = R.Median;
  RatioLow = R.Low;
  RatioHigh = R.High;
}

static std::string tripleText(const std::array<unsigned, 3> &T) {
  return std::to_string(T[0]) + "x" + std::to_string(T[1]) + "x" + std::to_string(T[2]);
}

std::string carve::shapeText(const KernelLaunches &Launches) {
  const LaunchShape &Shape = Launches.Shape;
  std::string Text = "grid " + tripleText(Shape.Grid) + " block " + tripleText(Shape.Block) +
                     " dynamic-smem " + std::to_string(Shape.DynamicSmemBytes);
  if (Shape.hasCluster())
    Text += " cluster " + tripleText(Shape.Cluster);
  if (Launches.Cooperative)
    Text += " cooperative";
  return Text;
}

double carve::heaviestOccupancy(const TuningJob &Job, const JobKernel &K,
                                const KernelResources &R) {
  const LaunchShape &Shape = heaviestShape(K.Traced);
  unsigned Blocks = blocksPerSm(Job.Model, {R.RegsPerThread, Shape.threadsPerBlock(),
                                            R.StaticSmemBytes, Shape.DynamicSmemBytes, R.Barriers});
  unsigned Warps =
      Blocks * ((Shape.threadsPerBlock() + Job.Model.WarpSize - 1) / Job.Model.WarpSize);
  return double(Warps) * Job.Model.WarpSize / Job.Model.MaxThreadsPerSm;
}

/// The source that a kernel's decision names: of several units that hold it the first by name.
static std::string sourceOf(const TuningJob &Job, const JobKernel &K) {
  std::vector<std::string> Sources;
  for (size_t M : K.Modules) {
    Sources.push_back(sourceInProject(Job.Modules[M].Source));
    for (const Unit &Twin : Job.Modules[M].Twins)
      Sources.push_back(sourceInProject(Twin));
  }
  return *llvm::min_element(Sources);
}

namespace {

std::vector<std::string> shapeTexts(const TracedKernel &T) {
  std::vector<std::string> Texts;
  for (const KernelLaunches &L : T.Shapes) {
    if (Texts.size() == 8) {
      Texts.push_back("and " + std::to_string(T.Shapes.size() - 8) + " more");
      break;
    }
    Texts.push_back(shapeText(L));
  }
  return Texts;
}

double meanNs(const TracedKernel &T) {
  double Ns = 0;
  for (const KernelLaunches &L : T.Shapes)
    Ns += double(L.TotalNs);
  return T.Launches ? Ns / double(T.Launches) : 0;
}

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

VariantReport reportVariant(const VariantSetting &Setting, const StaticMetrics &Metrics) {
  VariantReport R;
  R.Name = variantName(Setting);
  R.Regs = Metrics.RegsPerThread;
  R.SpillBytes = Metrics.SpillBytes;
  R.Occupancy = Metrics.Occupancy;
  R.Efficiency = Metrics.Efficiency.value_or(0);
  R.Utilization = Metrics.Utilization.value_or(0);
  R.LocalBytes = localBytesOf(Metrics);
  return R;
}

/// The register region with its concurrency levels in \p Shape, and the default's metrics.
void reportRegion(KernelReport &R, const TuningJob &Job, const JobKernel &K,
                  const LaunchShape &Shape) {
  R.LeastRegs = K.Region.rMin();
  R.MostRegs = K.Region.rMax();
  std::vector<CriticalPoint> Points = criticalPoints(Job.Model, K.Region, Shape);
  for (const CriticalPoint &P : llvm::reverse(Points))
    R.Levels.push_back({P.Regs, P.BlocksPerSm, P.Occupancy});
  if (K.Variants.empty())
    return;
  const StaticMetrics &Default = K.Variants.front().Metrics;
  R.EfficiencyBefore = Default.Efficiency.value_or(0);
  R.UtilizationBefore = Default.Utilization.value_or(0);
  R.LocalBytesBefore = localBytesOf(Default);
}

void reportVariants(KernelReport &R, const TuningJob &Job, const JobKernel &K,
                    const SubjectOutcome &O) {
  for (const ScreenedVariant &S : O.Screened) {
    const JobVariant &V = K.Variants[S.Variant];
    VariantReport Timed = reportVariant(V.Setting, V.Metrics);
    Timed.Regs = V.Resources.RegsPerThread;
    Timed.SpillBytes = V.Resources.spillBytes();
    Timed.Occupancy = heaviestOccupancy(Job, K, V.Resources);
    if (!S.Ratios.empty())
      Timed.setRatio(ratioInterval(S.Ratios));
    Timed.Fault = S.Fault.value_or("");
    R.Variants.push_back(std::move(Timed));
  }
  for (const CarvedJobVariant &C : K.Carved) {
    R.Carved.push_back(reportVariant(C.Setting, C.Metrics));
    R.Carved.back().Carved = C.Reason;
  }
}

/// What is said of a kernel whose outcome is \p O; \p Chosen is the setting that it runs with.
void reportOutcome(KernelReport &R, const SubjectOutcome &O, const VariantSetting &Chosen) {
  R.Ratio = O.Ratio;
  R.Pairs = O.Pairs;
  R.Reason = O.Reason;
  R.Tuned = O.Chosen != 0;
  R.Variant = variantName(Chosen);
}

KernelReport reportKernel(const TuningJob &Job, const JobKernel &K, const SubjectOutcome &O) {
  KernelReport R = reportTraced(K.Traced);
  const JobVariant &Chosen = K.Variants[O.Chosen];
  const LaunchShape &Shape = heaviestShape(K.Traced);
  const KernelResources &Default = K.Region.Default;
  const KernelResources &After = O.Chosen ? Chosen.Resources : Default;
  R.Output = Job.Modules[K.Modules.front()].Source.Output;
  R.RegsBefore = Default.RegsPerThread;
  R.RegsAfter = After.RegsPerThread;
  R.SpillBefore = Default.spillBytes();
  R.SpillAfter = After.spillBytes();
  R.OccupancyBefore = heaviestOccupancy(Job, K, Default);
  R.OccupancyAfter = heaviestOccupancy(Job, K, After);
  R.Source = sourceOf(Job, K);
  reportRegion(R, Job, K, Shape);
  R.Dropped = K.Dropped;
  R.Compiled = K.Compiled;
  reportVariants(R, Job, K, O);
  reportOutcome(R, O, Chosen.Setting);
  if (!K.LeftReason.empty())
    R.Reason = K.LeftReason;
  else if (K.Variants.size() <= 2)
    R.Reason = "no other setting gives other code that may be faster";
  return R;
}

llvm::StringRef proofName(OutputProof Proof) {
  switch (Proof) {
  case OutputProof::Bitwise:
    return "bitwise";
  case OutputProof::WithinSpread:
    return "within-spread";
  case OutputProof::ProgramOutput:
    return "output";
  }
  return "";
}

/// Adds what the timing run found of kernel \p Index.
void reportInRun(KernelReport &R, const InRunTuning &InRun, size_t Index) {
  const InRunOutcome &O = InRun.Outcomes[Index];
  if (R.Variants.empty()) // There was nothing to time.
    return;
  R.InRun.Mode = modeOf(InRun, Index);
  R.InRun.Reason = modeReasonOf(InRun, Index);
  if (O.Timing == InRunTiming::None)
    return;
  R.InRun.Rounds = O.HeldOutRounds;
  R.InRun.Ratio = O.Ratio;
  R.InRun.ControlDistance = O.ControlDistance;
  R.InRun.ColdNs = O.ColdNs;
  R.InRun.WarmNs = O.WarmNs;
  R.InRun.WarmWeight = O.WarmWeight;
  if (O.Nominee)
    R.InRun.Verified = proofName(O.Proof);
  for (size_t V = 2; V < O.Ratios.size(); ++V)
    if (R.Variants[V - 2].Ratio == 0 && O.Ratios[V] > 0)
      R.Variants[V - 2].setRatio(O.Intervals[V]);
  for (const InRunOutcome::Rejection &Out : O.Rejected)
    if (Out.Variant > 1 && R.Variants[Out.Variant - 2].Fault.empty())
      R.Variants[Out.Variant - 2].Fault = Out.Why;
}

/// Resources of \p Kernel in a file variant's image, as far as a cubin tells them.
KernelResources resourcesIn(const std::string &CubinBytes, const std::string &Kernel) {
  llvm::Expected<Cubin> Image = parseCubin(CubinBytes);
  if (!Image) {
    llvm::consumeError(Image.takeError());
    return {};
  }
  for (const CubinKernel &K : Image->Kernels)
    if (K.Resources.Name == Kernel)
      return K.Resources;
  return {};
}

KernelReport reportFileKernel(const TuningJob &Job, const JobKernel &K, const JobModule &M,
                              const SubjectOutcome &O) {
  KernelReport R = reportTraced(K.Traced);
  const JobVariant &Chosen = M.FileVariants[O.Chosen];
  KernelResources After = resourcesIn(Chosen.Cubin, K.Traced.Kernel);
  const LaunchShape &Shape = heaviestShape(K.Traced);
  R.Output = M.Source.Output;
  R.RegsBefore = K.Region.Default.RegsPerThread;
  R.RegsAfter = After.RegsPerThread;
  R.OccupancyBefore = heaviestOccupancy(Job, K, K.Region.Default);
  R.OccupancyAfter = heaviestOccupancy(Job, K, After);
  R.Source = sourceOf(Job, K);
  reportRegion(R, Job, K, Shape);
  for (const ScreenedVariant &S : O.Screened) {
    const JobVariant &V = M.FileVariants[S.Variant];
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
  reportOutcome(R, O, Chosen.Setting);
  return R;
}

} // namespace

TuningReport carve::describeTuning(const TuningJob &Job, TuningScope Scope,
                                   const SelectionOutcome &Outcome, const InRunTuning *InRun) {
  TuningReport Report;
  Report.Device = Job.Device.Name;
  Report.Driver = Job.Device.driverVersion();
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
  Report.Pairs = Outcome.Pairs;
  for (const SubjectOutcome &O : Outcome.Subjects)
    Report.VariantsTimed += O.Screened.size();
  for (const JobKernel &K : Job.Kernels)
    Report.VariantsCompiled += K.Compiled;
  if (Scope == TuningScope::File)
    for (size_t M = 0; M < Job.Modules.size(); ++M)
      for (size_t K : Job.Modules[M].Kernels)
        Report.Kernels.push_back(
            reportFileKernel(Job, Job.Kernels[K], Job.Modules[M], Outcome.Subjects[M]));
  else
    for (size_t K = 0; K < Job.Kernels.size(); ++K) {
      Report.Kernels.push_back(reportKernel(Job, Job.Kernels[K], Outcome.Subjects[K]));
      if (InRun)
        reportInRun(Report.Kernels.back(), *InRun, K);
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

static Evidence evidenceOf(const JobKernel &K, const SubjectOutcome &O,
                           const TuningReport &Report) {
  Evidence E;
  E.Device = Report.Device;
  E.Driver = Report.Driver;
  E.Date = Report.Date;
  E.Workload = Report.Workload;
  E.Shapes = shapeTexts(K.Traced);
  E.Ratio = O.Ratio.Median;
  E.RatioLow = O.Ratio.Low;
  E.RatioHigh = O.Ratio.High;
  E.Pairs = O.Pairs;
  E.DefaultRegs = E.TunedRegs = K.Region.Default.RegsPerThread;
  E.Reason = O.Reason;
  auto Described = llvm::find_if(
      Report.Kernels, [&](const KernelReport &R) { return R.Mangled == K.Traced.Kernel; });
  if (Described == Report.Kernels.end())
    return E;
  E.DefaultOccupancy = Described->OccupancyBefore;
  E.TunedOccupancy = Described->OccupancyAfter;
  E.LaunchNs = Described->MeanNs;
  if (Described->InRun.Mode.empty())
    return E;
  const InRunReport &InRun = Described->InRun;
  E.Mode = InRun.Mode;
  E.ModeReason = InRun.Reason;
  E.Verified = InRun.Verified;
  // Of another variant than the one that was confirmed they are no evidence.
  if (!InRun.Verified.empty()) {
    E.Rounds = InRun.Rounds;
    E.InRunRatio = InRun.Ratio.Median;
    E.InRunRatioLow = InRun.Ratio.Low;
    E.InRunRatioHigh = InRun.Ratio.High;
  }
  return E;
}

Profile carve::decisionsFor(const TuningJob &Job, size_t Module, TuningScope Scope,
                            const SelectionOutcome &Outcome, const TuningReport &Report) {
  Profile P;
  const JobModule &M = Job.Modules[Module];
  if (Scope == TuningScope::File)
    P.FileCap = M.FileVariants[Outcome.Subjects[Module].Chosen].Setting.Cap;
  for (size_t Index : M.Kernels) {
    const JobKernel &K = Job.Kernels[Index];
    if (!K.LeftReason.empty()) // Another tuning may look at it.
      continue;
    Decision D;
    D.Kernel = profileName(K.Traced.Kernel);
    D.Arch = M.Image.Arch;
    ImageOrigin Origin = M.Image.CubinDigest.empty() ? ImageOrigin::FromPtx : ImageOrigin::Compiled;
    D.Digest = decisionDigest(K.KernelDigest, M.Image.Arch, M.Source.NvccVersion,
                              M.Image.PtxasOptions, Origin);
    const SubjectOutcome &O = Outcome.Subjects[Scope == TuningScope::File ? Module : Index];
    D.Basis = evidenceOf(K, O, Report);
    D.Basis->Toolkit = M.Source.NvccVersion;
    D.Basis->Options = M.Image.PtxasOptions;
    D.Basis->Source = sourceOf(Job, K);
    if (Scope == TuningScope::Kernel)
      D.Basis->DefaultSpillBytes = D.Basis->TunedSpillBytes = K.Region.Default.spillBytes();
    if (Scope == TuningScope::Kernel && O.Chosen) {
      const JobVariant &V = K.Variants[O.Chosen];
      D.Variant = V.Setting;
      D.Basis->TunedRegs = V.Resources.RegsPerThread;
      D.Basis->TunedSpillBytes = V.Resources.spillBytes();
      D.Basis->CodeDigest = V.CodeDigest;
      if (V.Setting.SmemSpilling && Report.Domain == "traced")
        D.Basis->SmemSpillingThreads = K.SmemSpillingThreads;
    }
    P.put(std::move(D));
  }
  return P;
}
