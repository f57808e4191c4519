#include "Tune/Job/JobParts.h"

#include "Ptx/ProfileName.h"
#include "Search/VariantEdit.h"
#include "Store/UserProfile.h"
#include "Support/Clock.h"
#include "Support/Error.h"
#include "Support/Log.h"
#include "Support/Parallel.h"
#include "Tune/Job/GuardHolds.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <set>

using namespace carve;

std::vector<ParsedModule> carve::parseModules(std::vector<Unit> Units, const TuningJob &Job,
                                              const JobContext &Context) {
  std::vector<ParsedModule> Parsed;
  for (Unit &U : Units) {
    std::optional<UnitImage> Image = imageForDevice(U, Job.Device);
    if (!Image) {
      logLine(U.Output + ": no image and no PTX for " + Job.Device.arch());
      continue;
    }
    auto Twin = llvm::find_if(Parsed, [&](const ParsedModule &M) {
      return M.Image.PtxDigest == Image->PtxDigest && M.Image.Arch == Image->Arch &&
             M.Image.PtxasOptions == Image->PtxasOptions && M.Source.RegisterCap == U.RegisterCap &&
             M.Source.Relocatable == U.Relocatable;
    });
    if (Twin != Parsed.end()) {
      Twin->Twins.push_back(std::move(U));
      continue;
    }
    llvm::Expected<std::string> Text = Context.Store.blob(Image->PtxDigest);
    if (!Text) {
      logLine(U.Output + ": " + llvm::toString(Text.takeError()));
      continue;
    }
    llvm::Expected<PtxModule> Ptx = PtxModule::parse(std::move(*Text));
    if (!Ptx) {
      logLine(U.Output + ": " + llvm::toString(Ptx.takeError()));
      continue;
    }
    Parsed.push_back({std::move(U), {}, std::move(*Image), std::move(*Ptx), {}, {}});
  }
  return Parsed;
}

namespace {

/// The modules that have a kernel of one name, and whether it is the same kernel in all of them.
struct Place {
  std::vector<size_t> Modules;
  std::string Digest;
  KernelHazards Hazards;
  StayReason Left; ///< Why it is not tuned; empty if it is.
};

Place findPlace(const std::string &Kernel, const std::vector<ParsedModule> &Parsed,
                TuningScope Scope) {
  Place P;
  for (size_t M = 0; M < Parsed.size(); ++M) {
    const PtxEntry *Entry = Parsed[M].Ptx.find(Kernel);
    if (!Entry)
      continue;
    P.Modules.push_back(M);
    if (Parsed[M].NotLinked)
      P.Left = *Parsed[M].NotLinked;
    if (auto Reason = reasonNotTunable(*Entry, Parsed[M].Source.Relocatable))
      P.Left = *Reason;
    // Each choice of caps would need a separate run of nvlink.
    if (Parsed[M].Source.Relocatable && Scope == TuningScope::File)
      P.Left = KnownReason::RelocatableDeviceCode;
    llvm::Expected<std::string> Digest = Parsed[M].Ptx.kernelDigest(Kernel);
    if (!Digest)
      P.Left = StayReason(llvm::toString(Digest.takeError()));
    else if (P.Digest.empty())
      P.Digest = *Digest;
    else if (P.Digest != *Digest)
      P.Left = KnownReason::AmbiguousName; // Times are reported by name only.
  }
  if (!P.Modules.empty() && P.Left.empty()) {
    llvm::Expected<KernelHazards> Hazards = Parsed[P.Modules.front()].Ptx.kernelHazards(Kernel);
    if (Hazards)
      P.Hazards = *Hazards;
    else
      P.Left = StayReason(llvm::toString(Hazards.takeError()));
  }
  if (P.Modules.empty())
    P.Left = KnownReason::InNoUnit;
  return P;
}

unsigned tracedRegs(const TracedKernel &T) {
  return T.Shapes.empty() ? 0 : T.Shapes.front().RegsPerThread;
}

/// The index of the job's module for \p M. Adds the module to the job if it is not there yet.
size_t jobModule(ParsedModule &M, TuningJob &Job) {
  if (!M.InJob) {
    M.InJob = Job.Modules.size();
    Job.Modules.push_back({M.Source, M.Twins, M.Image, {}});
  }
  return *M.InJob;
}

} // namespace

void carve::placeKernels(std::vector<TracedKernel> Traced, std::vector<ParsedModule> &Parsed,
                         TuningJob &Job, const JobContext &Context) {
  Job.DeviceHeap =
      llvm::any_of(Parsed, [](const ParsedModule &M) { return M.Ptx.usesDeviceHeap(); });
  for (TracedKernel &T : Traced) {
    unsigned Regs = tracedRegs(T);
    if (T.Share < Context.Options.LeastShare) {
      Job.Left.push_back({std::move(T), KnownReason::BelowShare, Regs});
      continue;
    }
    if (Context.Options.OnlyKernels && !Context.Options.OnlyKernels->count(T.Kernel)) {
      Job.Left.push_back({std::move(T), KnownReason::OtherShard, Regs});
      continue;
    }
    Place P = findPlace(T.Kernel, Parsed, Context.Options.Scope);
    if (!P.Left.empty()) {
      Job.Left.push_back({std::move(T), std::move(P.Left), Regs});
      continue;
    }
    JobKernel K;
    K.Traced = std::move(T);
    K.KernelDigest = P.Digest;
    K.Hazards = P.Hazards;
    for (size_t M : P.Modules) {
      K.Modules.push_back(jobModule(Parsed[M], Job));
      Job.Modules[K.Modules.back()].Kernels.push_back(Job.Kernels.size());
    }
    Job.Kernels.push_back(std::move(K));
  }
}

/// The region of a kernel of which only the default is known, as it was traced: then no other
/// register count is tried.
static RegisterRegion tracedRegion(const TracedKernel &Kernel) {
  KernelResources Default;
  Default.Name = Kernel.Kernel;
  Default.RegsPerThread = tracedRegs(Kernel);
  if (!Kernel.Shapes.empty())
    Default.StaticSmemBytes = Kernel.Shapes.front().StaticSmemBytes;
  return {Kernel.Kernel, Default, Default, Default};
}

llvm::Error carve::findRegions(const std::vector<ParsedModule> &Parsed, TuningJob &Job,
                               const JobContext &Context) {
  std::vector<const ParsedModule *> Wanted;
  for (const ParsedModule &M : Parsed)
    if (M.InJob)
      Wanted.push_back(&M);
  // A file whose loops are unrolled far may take a minute. The rest is for its variants.
  constexpr double MostOfBudget = 0.5;
  const auto Begin = std::chrono::steady_clock::now();
  std::optional<double> LeftS = Context.secondsLeft();
  auto UntilHalf = [&]() -> std::optional<double> {
    if (!LeftS)
      return std::nullopt;
    return std::max(0.0, MostOfBudget * *LeftS - secondsSince(Begin));
  };
  DeadlineRunner Limited(Context.Runner, UntilHalf);
  std::mutex Guard;
  llvm::Error Failed = llvm::Error::success();
  runInParallel(Wanted.size(), [&](size_t I) {
    const ParsedModule &M = *Wanted[I];
    DeviceImage Image{M.Image.Arch, M.Image.PtxName, "", M.Image.PtxasOptions};
    auto Regions = findRegisterRegions(Context.T, Limited, M.Ptx, Image, M.Source.RegisterCap);
    std::lock_guard<std::mutex> Lock(Guard);
    if (!Regions && UntilHalf() == 0.0) {
      llvm::consumeError(Regions.takeError());
      logLine(llvm::formatv("{0}: ptxas took longer than half of the budget, so no other register "
                            "counts are tried",
                            M.Source.Output));
      for (size_t K : Job.Modules[*M.InJob].Kernels)
        Job.Kernels[K].Region = tracedRegion(Job.Kernels[K].Traced);
      return;
    }
    if (!Regions) {
      Failed = llvm::joinErrors(std::move(Failed), Regions.takeError());
      return;
    }
    for (size_t K : Job.Modules[*M.InJob].Kernels)
      for (RegisterRegion &R : *Regions)
        if (R.Kernel == Job.Kernels[K].Traced.Kernel)
          Job.Kernels[K].Region = R;
  });
  return Failed;
}

void carve::findEarlierDecisions(const std::vector<ParsedModule> &Parsed, TuningJob &Job,
                                 const UnitStore &Store) {
  for (const ParsedModule &M : Parsed) {
    if (!M.InJob)
      continue;
    llvm::Expected<std::vector<Profile>> Profiles = profilesOf(M.Source, Store);
    if (!Profiles) {
      logLine(M.Source.Output + ": " + llvm::toString(Profiles.takeError()));
      continue;
    }
    std::vector<const Profile *> Asked;
    for (const Profile &P : *Profiles)
      Asked.push_back(&P);
    ImageOrigin Origin = M.Image.CubinDigest.empty() ? ImageOrigin::FromPtx : ImageOrigin::Compiled;
    for (size_t K : Job.Modules[*M.InJob].Kernels) {
      JobKernel &Kernel = Job.Kernels[K];
      if (Kernel.Modules.front() != *M.InJob)
        continue;
      KernelState Now{Kernel.KernelDigest, M.Image.Arch, M.Source.NvccVersion, M.Image.PtxasOptions,
                      Origin};
      Kernel.Earlier =
          earlierDecision(Asked, profileName(Kernel.Traced.Kernel), Kernel.Traced.Kernel, Now);
    }
  }
}

std::vector<unsigned> carve::capsToTry(const JobKernel &Kernel, const EntryDirectives &Directives,
                                       const TuningJob &Job, const TuningOptions &Options,
                                       KernelBuild &Built) {
  bool CriticalCaps = Options.Points == PointSet::Critical || Options.Points == PointSet::Decided;
  std::set<unsigned> Caps;
  unsigned Largest = 1;
  for (const KernelLaunches &L : Kernel.Traced.Shapes) {
    Largest = std::max(Largest, L.Shape.threadsPerBlock());
    if (CriticalCaps)
      for (const CriticalPoint &P : criticalPoints(Job.Model, Kernel.Region, L.Shape))
        Caps.insert(P.Regs);
  }
  if (!CriticalCaps) {
    for (unsigned Regs = (Kernel.Region.rMin() + 7) / 8 * 8; Regs < Kernel.Region.rMax(); Regs += 8)
      Caps.insert(Regs);
    Caps.insert(Kernel.Region.rMax());
  }
  auto LimitOf = [&](LaunchDomain Domain) {
    return launchableRegisterLimit(Job.Model, Kernel.Region, Directives, Domain, Largest);
  };
  Built.FirstEntryRegs = LimitOf(Options.Domain);
  unsigned Limit = mayHaveFurtherEntry(Kernel, Job, Options) ? LimitOf(LaunchDomain::Traced)
                                                             : Built.FirstEntryRegs;
  Built.LaunchableRegs = Limit;
  std::vector<unsigned> Allowed;
  for (unsigned Cap : Caps) {
    if (Cap <= Limit) {
      Allowed.push_back(Cap);
      continue;
    }
    // The limit itself is the cap closest to this level that the domain allows.
    Built.Dropped.push_back("r" + std::to_string(Cap) + ": largest block would shrink");
    Built.BeyondDomain.push_back(Cap);
    if (Allowed.empty() || Allowed.back() != Limit)
      Allowed.push_back(Limit);
  }
  return Allowed;
}

bool carve::mayHaveFurtherEntry(const JobKernel &Kernel, const TuningJob &Job,
                                const TuningOptions &Options) {
  if (Options.Entries == FurtherEntries::Off || Options.Scope != TuningScope::Kernel ||
      Kernel.Hazards.SpinWait || Kernel.Traced.GraphLaunches)
    return false;
  bool Relocatable =
      llvm::any_of(Kernel.Modules, [&](size_t M) { return Job.Modules[M].Source.Relocatable; });
  return !Relocatable && llvm::all_of(Kernel.Traced.Shapes, mayTakeEntry);
}

bool carve::needsGuard(const JobVariant &Variant, const KernelBuild &Built) {
  return isDispatched(Variant) ||
         (Built.FirstEntryRegs && Variant.Resources.RegsPerThread > Built.FirstEntryRegs);
}

/// The guard of code with \p Resources that relies on \p Known.
static EntryGuard guardOf(const KnownLaunch &Known, const KernelResources &Resources,
                          const TuningJob &Job) {
  EntryGuard Guard = guardFor(Known);
  unsigned Most = maxThreadsForRegisters(Job.Model, Resources.RegsPerThread);
  if (!Guard.Block && (Guard == EntryGuard() || Most < MaxLaunchThreads))
    Guard.MaxThreads = std::min(Most, MaxLaunchThreads);
  return Guard;
}

std::vector<FurtherEntry> carve::furtherEntriesOf(const JobVariant &Variant, const TuningJob &Job) {
  if (Variant.Codes.empty())
    return {{guardOf({}, Variant.Resources, Job), Variant.Setting, Variant.CodeDigest}};
  std::vector<FurtherEntry> Entries;
  for (const GuardedCode &C : Variant.Codes)
    Entries.push_back({guardOf(C.Launch, C.Resources, Job), C.Setting, C.CodeDigest});
  return Entries;
}

/// Why code of \p Kernel with \p Setting and the resources \p New may not be used, or nothing.
static std::optional<std::string> forbiddenCode(const JobKernel &Kernel, const KernelBuild &Built,
                                                const VariantSetting &Setting,
                                                const KernelResources &New, const TuningJob &Job) {
  const KernelResources &Default = Built.Default;
  auto Blocks = [&](const KernelResources &R, const LaunchShape &Shape) {
    return blocksPerSm(Job.Model, {R.RegsPerThread, Shape.threadsPerBlock(), R.StaticSmemBytes,
                                   Shape.DynamicSmemBytes, R.Barriers});
  };
  for (const KernelLaunches &L : Kernel.Traced.Shapes) {
    // Blocks that wait for each other must be resident at the same time. With fewer resident blocks
    // than the default has, a larger grid than was timed could hang.
    if (Blocks(New, L.Shape) >= Blocks(Default, L.Shape))
      continue;
    if (L.Cooperative || L.Shape.hasCluster())
      return "fewer blocks per SM under a cooperative or cluster launch";
    if (Kernel.Hazards.SpinWait)
      return "fewer blocks per SM, and it waits in a loop";
  }
  // The knob SmemSpilling spills to shared memory, so more is expected then. Every launch may have
  // as much as needs no opt-in, dynamic shared memory included.
  unsigned Dynamic = 0;
  for (const KernelLaunches &L : Kernel.Traced.Shapes)
    Dynamic = std::max(Dynamic, L.Shape.DynamicSmemBytes);
  if (New.StaticSmemBytes > Default.StaticSmemBytes &&
      !(Setting.SmemSpilling && New.StaticSmemBytes + Dynamic <= SmemSpillingLimitBytes))
    return "more static shared memory";
  if (New.StackUnknown)
    return "stack of unknown size";
  if (Built.LaunchableRegs && New.RegsPerThread > Built.LaunchableRegs)
    return "largest block would shrink";
  // Local memory is counted over all threads that the device can hold. It may grow by 64 MB or by
  // 1 % of the device's memory, whichever is more (share/doc/manual.md).
  uint64_t Threads = uint64_t(Job.Device.Sms) * Job.Model.MaxThreadsPerSm;
  uint64_t Allowed = std::max<uint64_t>(64u << 20, Job.Device.MemoryBytes / 100);
  if (New.StackBytes > Default.StackBytes &&
      (New.StackBytes - Default.StackBytes) * Threads > Allowed)
    return "local memory grows by more than " + std::to_string(Allowed >> 20) + " MB";
  return std::nullopt;
}

std::optional<std::string> carve::forbidden(const JobKernel &Kernel, const KernelBuild &Built,
                                            const JobVariant &Variant, const TuningJob &Job) {
  for (const GuardedCode &C : Variant.Codes)
    if (auto Why = forbiddenCode(Kernel, Built, C.Setting, C.Resources, Job))
      return Why;
  return Variant.Codes.empty()
             ? forbiddenCode(Kernel, Built, Variant.Setting, Variant.Resources, Job)
             : std::nullopt;
}
