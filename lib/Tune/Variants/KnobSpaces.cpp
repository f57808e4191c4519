#include "Tune/Variants/KnobSpaces.h"

#include "Search/VariantEdit.h"
#include "Store/FlavourPtx.h"

#include <algorithm>

using namespace carve;

/// Whether \p Kernel may spill to shared memory. ptxas refuses the whole module if it may not,
/// which is so for a kernel that uses dynamic shared memory. A kernel that is launched with dynamic
/// shared memory but does not use it may, unless all launches that its default accepts must stay
/// possible: with what is spilled, less dynamic memory is left, and nobody knows how much the
/// program takes at other launches.
static bool maySpillToSmem(const JobKernel &Kernel, const PtxEntry &Entry, const ParsedModule &M,
                           LaunchDomain Domain) {
  return !reasonNotSmemSpilling(Entry, M.Source.Relocatable, M.Source.NvccVersion) &&
         (Domain == LaunchDomain::Traced ||
          llvm::none_of(Kernel.Traced.Shapes,
                        [](const KernelLaunches &L) { return L.Shape.DynamicSmemBytes > 0; }));
}

/// The register count from which on the kernel of \p Region spills nothing. More registers never
/// spill more, so its ends and its default tell. What functions spill that the entry \p Entry calls
/// is not in the report.
static unsigned spillsBelow(const RegisterRegion &Region, const PtxEntry &Entry) {
  if (!Entry.Callees.empty() || Region.AtMax.spillBytes() > 0)
    return KnobSpace().SpillsBelow;
  if (Region.Default.spillBytes() > 0)
    return Region.rMax();
  return Region.AtMin.spillBytes() > 0 ? Region.Default.RegsPerThread : 0;
}

/// The block size, in threads, that spilling to shared memory must allow: the largest that the
/// default accepts, or the largest that was traced, depending on \p Domain.
static unsigned smemSpillingThreads(const JobKernel &Kernel, const PtxEntry &Entry,
                                    const TuningJob &Job, LaunchDomain Domain) {
  if (Domain == LaunchDomain::Preserve)
    return smemSpillingMaxThreads(Job.Model, Entry.Directives, Kernel.Region.Default.RegsPerThread);
  unsigned Largest = 1;
  for (const KernelLaunches &L : Kernel.Traced.Shapes)
    Largest = std::max(Largest, L.Shape.threadsPerBlock());
  return Largest;
}

/// Adds what ptxas may be told for this kernel alone, or the reason for which it may not.
static void addAssemblerSettings(const ParsedModule &M, KnobSpace &Space, KernelBuild &Built) {
  const std::vector<std::string> &Options = M.Image.PtxasOptions;
  auto Reason = reasonNotReassembled(M.Image.Arch, Options, M.Source.Relocatable);
  if (Reason) {
    Built.Dropped.push_back("settings of the assembler (o1, l0, l10): " + *Reason);
    return;
  }
  Space.RegisterUsageLevels = registerUsageLevelsToTry(Options);
  Space.LessOptimized = mayBeLessOptimized(Options);
}

KnobSpace carve::knobSpaceOf(const JobKernel &Kernel, const ParsedModule &M, const TuningJob &Job,
                             const JobContext &Context, KernelBuild &Built) {
  const PtxEntry &Entry = *M.Ptx.find(Kernel.Traced.Kernel);
  KnobSpace Space;
  Space.Caps = capsToTry(Kernel, Entry.Directives, Job, Context.Options, Built);
  Space.DefaultRegs = Kernel.Region.Default.RegsPerThread;
  Space.MinRegs = Kernel.Region.rMin();
  Space.MaxRegs = std::min(Kernel.Region.rMax(), Built.LaunchableRegs);
  const UnitFrontEnd *FrontEnd = frontEndOf(M.Source, M.Image.PtxDigest);
  Space.FrontEndCaps = Context.FlavourPtx && FrontEnd;
  if (Space.FrontEndCaps)
    for (FrontEndKnob Knob : frontEndKnobs())
      if (appliesTo(Knob, FrontEnd->Step.Arguments) &&
          (Knob != FrontEndKnob::KnownLaunch || !Kernel.Known.empty()) &&
          (Knob != FrontEndKnob::KnownShapes || !Kernel.KnownShapes.empty()))
        Space.FrontEndKnobs.push_back(Knob);
  Space.Restrict =
      Space.FrontEndCaps && !Kernel.Apart.empty() && mayBeRestrict(FrontEnd->Step.Arguments);
  Space.KnownPtx = !Kernel.KnownPtx.empty();
  Built.SmemSpillingThreads = smemSpillingThreads(Kernel, Entry, Job, Context.Options.Domain);
  Space.SpillsBelow = spillsBelow(Kernel.Region, Entry);
  Space.SmemSpilling = maySpillToSmem(Kernel, Entry, M, Context.Options.Domain);
  for (LoadCaching Loads : {LoadCaching::L2Only, LoadCaching::EvictFirst, LoadCaching::NoAllocate})
    if (Entry.Loads.by(Loads))
      Space.LoadCachings.push_back(Loads);
  addAssemblerSettings(M, Space, Built);
  return Space;
}

std::optional<std::string> carve::forbiddenSetting(const VariantSetting &Setting,
                                                   const ParsedModule &M) {
  std::optional<unsigned> Ceiling = M.Source.RegisterCap;
  if (Ceiling && std::max(Setting.Cap.value_or(0), Setting.FrontEndCap.value_or(0)) > *Ceiling)
    return "above the register cap of the command, " + std::to_string(*Ceiling);
  return std::nullopt;
}

std::vector<VariantSetting> carve::allSettings(const KnobSpace &Space) {
  std::vector<std::optional<unsigned>> Caps{std::nullopt};
  Caps.insert(Caps.end(), Space.Caps.begin(), Space.Caps.end());
  std::vector<LoadCaching> Cachings{LoadCaching::AsCompiled};
  llvm::append_range(Cachings, Space.LoadCachings);
  std::vector<VariantSetting> All;
  for (std::optional<unsigned> Cap : Caps) {
    std::vector<FrontEndSetting> FrontEnds{{}};
    if (Space.FrontEndCaps) {
      if (Cap && *Cap != FreeFrontEndCap)
        FrontEnds.push_back({Cap});
      FrontEnds.push_back({FreeFrontEndCap});
    }
    for (FrontEndKnob Knob : Space.FrontEndKnobs)
      FrontEnds.push_back({std::nullopt, Knob});
    if (Space.Restrict)
      for (size_t I = 0, Count = FrontEnds.size(); I < Count; ++I)
        FrontEnds.push_back({FrontEnds[I].Cap, FrontEnds[I].Knob, true});
    for (const FrontEndSetting &FrontEnd : FrontEnds)
      for (bool Smem : {false, true})
        for (LoadCaching Loads : Cachings) {
          VariantSetting V{.Cap = Cap,
                           .FrontEndCap = FrontEnd.Cap,
                           .FrontEnd = FrontEnd.Knob,
                           .SmemSpilling = Smem,
                           .Loads = Loads,
                           .Restrict = FrontEnd.Restrict};
          if (Smem && !Space.maySpillBeside(V))
            continue;
          if (!V.isDefault())
            All.push_back(V);
          V.KnownPtx = Space.KnownPtx && !isForKnownLaunches(FrontEnd.Knob);
          if (V.KnownPtx)
            All.push_back(V);
        }
    if (Space.LessOptimized)
      All.push_back({.Cap = Cap, .OptimizationLevel = 1});
    for (unsigned Level : Space.RegisterUsageLevels)
      All.push_back({.Cap = Cap, .RegisterUsageLevel = Level});
  }
  return All;
}
