#include "Tune/Job/JobParts.h"

#include "Nvcc/KernelText.h"
#include "Search/VariantEdit.h"
#include "Store/FlavourPtx.h"
#include "Support/Error.h"
#include "Support/Log.h"
#include "Support/Parallel.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
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

llvm::Error carve::findRegions(const std::vector<ParsedModule> &Parsed, TuningJob &Job,
                               const JobContext &Context) {
  std::vector<const ParsedModule *> Wanted;
  for (const ParsedModule &M : Parsed)
    if (M.InJob)
      Wanted.push_back(&M);
  std::mutex Guard;
  llvm::Error Failed = llvm::Error::success();
  runInParallel(Wanted.size(), [&](size_t I) {
    const ParsedModule &M = *Wanted[I];
    DeviceImage Image{M.Image.Arch, M.Image.PtxName, "", M.Image.PtxasOptions};
    auto Regions =
        findRegisterRegions(Context.T, Context.Runner, M.Ptx, Image, M.Source.RegisterCap);
    std::lock_guard<std::mutex> Lock(Guard);
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

std::vector<unsigned> carve::capsToTry(const JobKernel &Kernel, const EntryDirectives &Directives,
                                       const TuningJob &Job, const TuningOptions &Options,
                                       KernelBuild &Built) {
  std::set<unsigned> Caps;
  unsigned Largest = 1;
  for (const KernelLaunches &L : Kernel.Traced.Shapes) {
    Largest = std::max(Largest, L.Shape.threadsPerBlock());
    if (Options.Points == PointSet::Critical)
      for (const CriticalPoint &P : criticalPoints(Job.Model, Kernel.Region, L.Shape))
        Caps.insert(P.Regs);
  }
  if (Options.Points != PointSet::Critical) {
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
  return !Relocatable && llvm::none_of(Kernel.Traced.Shapes, [&](const KernelLaunches &L) {
    return L.Cooperative || L.Shape.hasCluster() ||
           L.Shape.DynamicSmemBytes + L.StaticSmemBytes > SmemSpillingLimitBytes;
  });
}

bool carve::needsGuard(const JobVariant &Variant, const KernelBuild &Built) {
  return isDispatched(Variant) ||
         (Built.FirstEntryRegs && Variant.Resources.RegsPerThread > Built.FirstEntryRegs);
}

/// The guard of code with \p Resources that relies on \p Known.
static EntryGuard guardOf(const KnownLaunch &Known, const KernelResources &Resources,
                          const TuningJob &Job) {
  EntryGuard Guard{.Block = Known.Block, .Grid = Known.Grid, .Arguments = Known.Values};
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

/// Returns whether the code of \p Kernel, or a function that it calls, reads \p Register.
static bool readsRegister(const TracedKernel &Kernel, const PtxModule &Ptx,
                          llvm::StringRef Register) {
  auto ReadBy = [&](llvm::StringRef Function) {
    return Ptx.definitionOf(Function).contains(Register);
  };
  return ReadBy(Kernel.Kernel) || llvm::any_of(Ptx.find(Kernel.Kernel)->Callees, ReadBy);
}

/// Returns what is the same in all launches that \p Trace has of \p Kernel, and that its code
/// reads.
static KnownLaunch sameInAllLaunches(const ProbeRecord &Trace, const TracedKernel &Kernel,
                                     const PtxModule &Ptx) {
  KnownLaunch Known;
  Known.Values = Trace.sameArguments(Kernel.Kernel);
  auto Same = [&](auto DimensionsOf) {
    std::optional<std::array<unsigned, 3>> Exact;
    for (const KernelLaunches &L : Kernel.Shapes) {
      std::array<unsigned, 3> Own = DimensionsOf(L.Shape);
      if ((Exact && *Exact != Own) || Own[0] == 0) // Launches of many shapes have none in common.
        return std::optional<std::array<unsigned, 3>>();
      Exact = Own;
    }
    return Exact;
  };
  if (readsRegister(Kernel, Ptx, "%ntid"))
    Known.Block = Same([](const LaunchShape &S) { return S.Block; });
  if (readsRegister(Kernel, Ptx, "%nctaid"))
    Known.Grid = Same([](const LaunchShape &S) { return S.Grid; });
  return Known;
}

namespace {
/// Launches of which the same is known, and their GPU time.
struct KnownGroup {
  KnownLaunch Known;
  uint64_t TotalNs = 0;

  /// How many values and dimensions are known.
  size_t facts() const {
    return Known.Values.size() + Known.Block.has_value() + Known.Grid.has_value();
  }
};
} // namespace

/// Launches with less than this share of the kernel's GPU time get no entry of their own.
static constexpr double LeastGroupShare = 0.1;

/// What is known of the launches with each grid and block, as far as the code reads it and \p
/// Written can write it into the text. Only the launches that take most of the time are looked at.
static std::vector<KnownGroup>
sameInShapes(const ProbeRecord &Trace, const TracedKernel &Kernel, const PtxModule &Ptx,
             llvm::function_ref<KnownLaunch(const KnownLaunch &)> Written) {
  constexpr size_t MostLookedAt = 16;
  std::map<std::pair<std::array<uint32_t, 3>, std::array<uint32_t, 3>>, KernelLaunches> ByShape;
  for (const KernelLaunches &L : Kernel.Shapes)
    if (L.Shape.Grid[0] != 0) // Otherwise it stands for launches of many shapes.
      if (auto [It, New] = ByShape.try_emplace({L.Shape.Grid, L.Shape.Block}, L); !New)
        It->second.TotalNs += L.TotalNs;
  std::vector<KernelLaunches> Heaviest;
  for (auto &[Shape, L] : ByShape)
    Heaviest.push_back(std::move(L));
  llvm::stable_sort(Heaviest, [](const auto &A, const auto &B) { return A.TotalNs > B.TotalNs; });
  Heaviest.resize(std::min(Heaviest.size(), MostLookedAt));
  bool Block = readsRegister(Kernel, Ptx, "%ntid"), Grid = readsRegister(Kernel, Ptx, "%nctaid");
  std::vector<KnownGroup> Groups;
  for (const KernelLaunches &L : Heaviest) {
    KnownLaunch Known{Trace.sameArguments(Kernel.Kernel, L.Shape)};
    if (Block)
      Known.Block = L.Shape.Block;
    if (Grid)
      Known.Grid = L.Shape.Grid;
    Known = Written(Known);
    auto Same = llvm::find_if(Groups, [&](const KnownGroup &G) { return G.Known == Known; });
    if (Same == Groups.end())
      Groups.push_back({std::move(Known), L.TotalNs});
    else
      Same->TotalNs += L.TotalNs;
  }
  return Groups;
}

/// Chooses what the codes of a variant for several shapes rely on: \p Groups with the most GPU time
/// of which more is known than \p OfAll, and \p OfAll itself if it is needed for the rest. \p
/// TotalNs is the GPU time of all launches.
static std::vector<KnownLaunch> chooseGroups(std::vector<KnownGroup> Groups,
                                             const KnownLaunch &OfAll, uint64_t TotalNs) {
  llvm::erase_if(Groups, [&](const KnownGroup &G) {
    return G.Known.empty() || G.Known == OfAll ||
           double(G.TotalNs) < LeastGroupShare * double(TotalNs);
  });
  llvm::stable_sort(Groups, [](const auto &A, const auto &B) { return A.TotalNs > B.TotalNs; });
  auto LeavesRest = [&] {
    uint64_t Ns = 0;
    for (const KnownGroup &G : Groups)
      Ns += G.TotalNs;
    return Ns < TotalNs;
  };
  Groups.resize(std::min(Groups.size(), MostFurtherEntries));
  bool WithRest = !Groups.empty() && !OfAll.empty() && LeavesRest();
  if (WithRest)
    Groups.resize(std::min(Groups.size(), MostFurtherEntries - 1));
  // A launch takes the first that is true of it, so the one that knows more has to come first.
  llvm::stable_sort(Groups, [](const auto &A, const auto &B) { return A.facts() > B.facts(); });
  std::vector<KnownLaunch> Chosen;
  for (KnownGroup &G : Groups)
    Chosen.push_back(std::move(G.Known));
  if (WithRest)
    Chosen.push_back(OfAll);
  return Chosen;
}

namespace {
/// A kernel whose launches may become known.
struct WantedKernel {
  JobKernel *Kernel;
  KnownLaunch OfAll; ///< What all its launches share.
  LaunchReads Reads;
};
} // namespace

/// Sets JobKernel::Known and KnownShapes of \p Wanted, whose text has the definitions \p Kernels.
/// Values of floating-point numbers are known only with \p Floats.
static void findKnownLaunchesOf(const WantedKernel &Wanted, const ProbeRecord &Trace,
                                const PtxModule &Ptx, llvm::ArrayRef<KernelDefinition> Kernels,
                                bool Floats) {
  JobKernel &K = *Wanted.Kernel;
  auto Written = [&](KnownLaunch Known) -> llvm::Expected<KnownLaunch> {
    if (!Floats)
      llvm::erase_if(Known.Values,
                     [&](const ArgumentValue &V) { return Wanted.Reads.readFloatAt(V); });
    if (Known.empty())
      return Known;
    llvm::Expected<AssumedLaunch> Assumed = assumable(Kernels, K.Traced.Kernel, Known);
    if (!Assumed)
      return Assumed.takeError();
    // Aligned addresses alone are not worth another run of cicc for nearly every kernel.
    return Assumed->onlyAligned() ? KnownLaunch() : std::move(Assumed->Launch);
  };
  if (llvm::Expected<KnownLaunch> OfAll = Written(Wanted.OfAll))
    K.Known = std::move(*OfAll);
  else
    logLine(K.Traced.Kernel +
            ": not compiled for its arguments: " + llvm::toString(OfAll.takeError()));
  auto WrittenForShape = [&](const KnownLaunch &Known) {
    llvm::Expected<KnownLaunch> OfShape = Written(Known);
    if (OfShape)
      return std::move(*OfShape);
    llvm::consumeError(OfShape.takeError()); // Of launches of one shape, nothing more is known.
    return KnownLaunch();
  };
  uint64_t TotalNs = 0;
  for (const KernelLaunches &L : K.Traced.Shapes)
    TotalNs += L.TotalNs;
  K.KnownShapes =
      chooseGroups(sameInShapes(Trace, K.Traced, Ptx, WrittenForShape), K.Known, TotalNs);
}

/// Sets JobKernel::Known, KnownShapes and KnownPtx of the kernels of \p Job whose first module is
/// number \p Index, which was made from \p M.
static void findKnownLaunchesIn(const ParsedModule &M, size_t Index, const ProbeRecord &Trace,
                                TuningJob &Job, const JobContext &Context) {
  const bool Floats = Context.Options.Entries == FurtherEntries::Floats;
  std::vector<WantedKernel> Wanted;
  for (size_t I : Job.Modules[Index].Kernels) {
    JobKernel &K = Job.Kernels[I];
    if (K.Modules.front() != Index || !mayHaveFurtherEntry(K, Job, Context.Options))
      continue;
    const std::string &Name = K.Traced.Kernel;
    llvm::Expected<LaunchReads> Reads = M.Ptx.launchReads(Name);
    if (!Reads) {
      logLine(Name + ": " + llvm::toString(Reads.takeError()));
      continue;
    }
    KnownLaunch OfAll = sameInAllLaunches(Trace, K.Traced, M.Ptx);
    const std::vector<std::string> Types = parameterTypes(Name);
    K.KnownPtx = constantsOf(OfAll, *Reads, {Types, Floats});
    Wanted.push_back({&K, std::move(OfAll), std::move(*Reads)});
  }
  const UnitFrontEnd *FrontEnd = frontEndOf(M.Source, M.Image.PtxDigest);
  if (Wanted.empty() || !FrontEnd || !Context.FlavourPtx)
    return;
  llvm::Expected<std::string> Text = Context.Store.blob(FrontEnd->InputDigest);
  llvm::Expected<std::vector<KernelDefinition>> Kernels =
      Text ? kernelDefinitions(*Text) : Text.takeError();
  if (!Kernels) {
    logLine(M.Source.Output + ": its kernels are not compiled for their arguments: " +
            llvm::toString(Kernels.takeError()));
    return;
  }
  for (const WantedKernel &K : Wanted)
    findKnownLaunchesOf(K, Trace, M.Ptx, *Kernels, Floats);
}

void carve::findKnownLaunches(const ProbeRecord &Trace, const std::vector<ParsedModule> &Parsed,
                              TuningJob &Job, const JobContext &Context) {
  if (!allowValues(Context.Options.Entries))
    return;
  runInParallel(Parsed.size(), [&](size_t I) {
    if (Parsed[I].InJob)
      findKnownLaunchesIn(Parsed[I], *Parsed[I].InJob, Trace, Job, Context);
  });
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
