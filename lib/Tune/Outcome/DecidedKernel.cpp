#include "Tune/Outcome/DecidedKernel.h"

#include "Tune/Job/GuardHolds.h"
#include "Tune/Job/JobParts.h"

#include "Cubin/Cubin.h"
#include "Ptx/ProfileName.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;

const DecidedKernel *DecidedUnit::find(size_t Kernel) const {
  auto K = llvm::find_if(Kernels, [&](const DecidedKernel &D) { return D.Kernel == Kernel; });
  return K == Kernels.end() ? nullptr : &*K;
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

std::string carve::shapeText(const KernelLaunches &Launches) {
  const LaunchShape &Shape = Launches.Shape;
  std::string Text = "grid " + extentsText(Shape.Grid, "x") + " block " +
                     extentsText(Shape.Block, "x") + " dynamic-smem " +
                     std::to_string(Shape.DynamicSmemBytes);
  if (Shape.hasCluster())
    Text += " cluster " + extentsText(Shape.Cluster, "x");
  if (Launches.Cooperative)
    Text += " cooperative";
  return Text;
}

std::vector<std::string> carve::shapeTexts(const TracedKernel &T) {
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

double carve::meanNs(const TracedKernel &T) {
  double Ns = 0;
  for (const KernelLaunches &L : T.Shapes)
    Ns += double(L.TotalNs);
  return T.Launches ? Ns / double(T.Launches) : 0;
}

std::string carve::sourceOf(const TuningJob &Job, const JobKernel &K) {
  std::vector<std::string> Sources;
  for (size_t M : K.Modules) {
    Sources.push_back(sourceInProject(Job.Modules[M].Source));
    for (const Unit &Twin : Job.Modules[M].Twins)
      Sources.push_back(sourceInProject(Twin));
  }
  return *llvm::min_element(Sources);
}

KernelResources carve::resourcesIn(const std::string &CubinBytes, const std::string &Kernel) {
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

namespace {

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

InRunFinding findingOf(const InRunTuning &InRun, size_t Kernel) {
  const InRunOutcome &O = InRun.Outcomes[Kernel];
  InRunFinding F;
  F.Mode = modeOf(InRun, Kernel);
  F.Reason = modeReasonOf(InRun, Kernel);
  if (O.Timing == InRunTiming::None)
    return F;
  F.Rounds = O.HeldOutRounds;
  F.Ratio = O.Ratio;
  F.ControlDistance = O.ControlDistance;
  F.ColdNs = O.ColdNs;
  F.WarmNs = O.WarmNs;
  F.WarmWeight = O.WarmWeight;
  if (O.Nominee)
    F.Verified = proofName(O.Proof);
  return F;
}

/// The decision of \p O on kernel number \p Index. The caller adds the code that the kernel gets.
DecidedKernel decidedBy(const SubjectOutcome &O, const JobBuild &Built, size_t Index) {
  DecidedKernel D;
  D.Kernel = Index;
  D.Tuned = O.Chosen != 0;
  D.Default = Built.Kernels[Index].Default;
  D.Ratio = O.Ratio;
  D.Pairs = O.Pairs;
  D.Reason = parseStayReason(O.Reason);
  return D;
}

DecidedKernel decideKernel(const TuningJob &Job, const JobBuild &Built, size_t Index,
                           const SubjectOutcome &O, const InRunTuning *InRun) {
  const JobVariant &Variant = Built.Kernels[Index].Variants[O.Chosen];
  DecidedKernel D = decidedBy(O, Built, Index);
  D.Setting = Variant.Setting;
  D.Composed = Variant.Composed;
  D.Chosen = D.Tuned ? Variant.Resources : D.Default;
  if (D.Tuned)
    D.CodeDigest = Variant.CodeDigest;
  if (D.Tuned && needsGuard(Variant, Built.Kernels[Index])) {
    const TracedKernel &Traced = Job.Kernels[Index].Traced;
    D.Entries = furtherEntriesOf(Variant, Job);
    for (FurtherEntry &E : D.Entries)
      E.Held = holdOf(E.When, Traced);
  }
  if (InRun && !O.Screened.empty())
    D.InRun = findingOf(*InRun, Index);
  return D;
}

/// The decision on kernel number \p Index of a unit whose kernels all get one cap.
DecidedKernel decideFileKernel(const TuningJob &Job, const JobBuild &Built, size_t Index,
                               const JobVariant &OfFile, const SubjectOutcome &O) {
  DecidedKernel D = decidedBy(O, Built, Index);
  D.Setting = OfFile.Setting;
  D.Chosen = resourcesIn(OfFile.Cubin, Job.Kernels[Index].Traced.Kernel);
  return D;
}

Evidence evidenceOf(const DecidedKernel &D, const TuningJob &Job, const JobBuild &Built,
                    const JobModule &M, TuningScope Scope, const Circumstances &When) {
  const JobKernel &K = Job.Kernels[D.Kernel];
  Evidence E;
  E.Device = When.Device;
  E.Driver = When.Driver;
  E.Date = When.Date;
  E.Workload = When.Workload;
  E.Toolkit = M.Source.NvccVersion;
  E.Options = M.Image.PtxasOptions;
  E.Source = sourceOf(Job, K);
  E.Shapes = shapeTexts(K.Traced);
  E.LaunchNs = meanNs(K.Traced);
  E.Ratio = D.Ratio.Median;
  E.RatioLow = D.Ratio.Low;
  E.RatioHigh = D.Ratio.High;
  E.Pairs = D.Pairs;
  E.Reason = D.Reason.text();
  E.DefaultOccupancy = D.DefaultOccupancy;
  E.TunedOccupancy = D.ChosenOccupancy;
  E.DefaultRegs = E.TunedRegs = D.Default.RegsPerThread;
  E.Mode = D.InRun.Mode;
  E.ModeReason = D.InRun.Reason;
  E.Verified = D.InRun.Verified;
  // Rounds are evidence only for the variant that was confirmed.
  if (!D.InRun.Verified.empty()) {
    E.Rounds = D.InRun.Rounds;
    E.InRunRatio = D.InRun.Ratio.Median;
    E.InRunRatioLow = D.InRun.Ratio.Low;
    E.InRunRatioHigh = D.InRun.Ratio.High;
  }
  if (Scope == TuningScope::File) // Cubins do not tell spills, and the profile has one cap for all.
    return E;
  E.DefaultSpillBytes = D.Default.spillBytes();
  E.TunedRegs = D.Chosen.RegsPerThread;
  E.TunedSpillBytes = D.Chosen.spillBytes();
  E.CodeDigest = D.CodeDigest;
  if (D.Setting.SmemSpilling && When.Domain == LaunchDomain::Traced)
    E.SmemSpillingThreads = Built.Kernels[D.Kernel].SmemSpillingThreads;
  return E;
}

} // namespace

std::vector<DecidedUnit> carve::decideKernels(const TuningJob &Job, const JobBuild &Built,
                                              TuningScope Scope, const SelectionOutcome &Outcome,
                                              const InRunTuning *InRun) {
  std::vector<DecidedUnit> Units(Job.Modules.size());
  for (size_t M = 0; M < Units.size(); ++M) {
    const JobVariant *OfFile = Scope == TuningScope::File
                                   ? &Built.Modules[M].FileVariants[Outcome.Subjects[M].Chosen]
                                   : nullptr;
    for (size_t Index : Job.Modules[M].Kernels) {
      DecidedKernel D = OfFile ? decideFileKernel(Job, Built, Index, *OfFile, Outcome.Subjects[M])
                               : decideKernel(Job, Built, Index, Outcome.Subjects[Index], InRun);
      D.DefaultOccupancy = heaviestOccupancy(Job, Job.Kernels[Index], D.Default);
      D.ChosenOccupancy = heaviestOccupancy(Job, Job.Kernels[Index], D.Chosen);
      Units[M].Kernels.push_back(std::move(D));
    }
    if (OfFile)
      Units[M].FileCap = OfFile->Setting.Cap;
  }
  return Units;
}

Profile carve::decisionsFor(const TuningJob &Job, const JobBuild &Built, size_t Module,
                            TuningScope Scope, const DecidedUnit &Decided,
                            const Circumstances &When) {
  const JobModule &M = Job.Modules[Module];
  ImageOrigin Origin = M.Image.CubinDigest.empty() ? ImageOrigin::FromPtx : ImageOrigin::Compiled;
  Profile P;
  P.FileCap = Decided.FileCap;
  for (const DecidedKernel &D : Decided.Kernels) {
    const JobKernel &K = Job.Kernels[D.Kernel];
    if (!Built.Kernels[D.Kernel].LeftReason.empty()) // Another tuning may try it again.
      continue;
    Decision Made;
    Made.Kernel = profileName(K.Traced.Kernel);
    Made.Arch = M.Image.Arch;
    Made.Digest = decisionDigest(K.KernelDigest, M.Image.Arch, M.Source.NvccVersion,
                                 M.Image.PtxasOptions, Origin);
    Made.Basis = evidenceOf(D, Job, Built, M, Scope, When);
    if (Scope == TuningScope::Kernel && !D.Entries.empty()) {
      Made.Entries = D.Entries;
      Made.Basis->CodeDigest.clear(); // It would be that of the first entry.
    } else if (Scope == TuningScope::Kernel && D.Tuned) {
      Made.Variant = D.Setting;
    }
    P.put(std::move(Made));
  }
  return P;
}
