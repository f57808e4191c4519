#include "Tune/Variants/KnobSpaces.h"

#include "Search/VariantEdit.h"
#include "Store/FlavourPtx.h"

#include <algorithm>

using namespace carve;

/// Whether \p Kernel may spill to shared memory. With dynamic shared memory it may not: ptxas
/// refuses the whole module then.
static bool maySpillToSmem(const JobKernel &Kernel, const PtxEntry &Entry, const ParsedModule &M) {
  return !reasonNotSmemSpilling(Entry, M.Source.Relocatable, M.Source.NvccVersion) &&
         llvm::none_of(Kernel.Traced.Shapes,
                       [](const KernelLaunches &L) { return L.Shape.DynamicSmemBytes > 0; });
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

KnobSpace carve::knobSpaceOf(JobKernel &Kernel, const ParsedModule &M, const TuningJob &Job,
                             const JobContext &Context) {
  const PtxEntry &Entry = *M.Ptx.find(Kernel.Traced.Kernel);
  KnobSpace Space;
  Space.Caps = capsToTry(Kernel, Entry.Directives, Job, Context.Options);
  Space.DefaultRegs = Kernel.Region.Default.RegsPerThread;
  Space.MinRegs = Kernel.Region.rMin();
  Space.MaxRegs = std::min(Kernel.Region.rMax(), Kernel.LaunchableRegs);
  Space.FrontEndCaps = Context.FlavourPtx && frontEndOf(M.Source, M.Image.PtxDigest);
  if (Space.FrontEndCaps)
    Space.FrontEndKnobs = frontEndKnobs();
  Kernel.SmemSpillingThreads = smemSpillingThreads(Kernel, Entry, Job, Context.Options.Domain);
  Space.SmemSpilling = maySpillToSmem(Kernel, Entry, M);
  for (LoadCaching Loads : {LoadCaching::L2Only, LoadCaching::EvictFirst, LoadCaching::NoAllocate})
    if (Entry.Loads.by(Loads))
      Space.LoadCachings.push_back(Loads);
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
    for (const FrontEndSetting &FrontEnd : FrontEnds)
      for (bool Smem : {false, true})
        for (LoadCaching Loads : Cachings) {
          VariantSetting V{Cap, FrontEnd.Cap, FrontEnd.Knob, Smem, Loads, {}};
          if ((!Smem || Space.SmemSpilling) && !V.isDefault())
            All.push_back(V);
        }
  }
  return All;
}
