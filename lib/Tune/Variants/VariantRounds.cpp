#include "Tune/Variants/VariantRounds.h"

#include "Search/VariantEdit.h"
#include "Support/Log.h"
#include "Tune/Job/DeviceLinks.h"
#include "Tune/Variants/KernelVariants.h"
#include "Tune/Variants/KnobSpaces.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;

/// Proposes the settings of one kernel, from its search or from a list that is timed in full.
class VariantRounds::Source {
public:
  Source(const KnobSpace &Space, const TuningOptions &Options) {
    if (Options.Points == PointSet::Critical)
      Search.emplace(Space, Options.Search);
    else if (Options.Points == PointSet::All)
      List = allSettings(Space);
    else
      for (unsigned Cap : Space.Caps)
        List.push_back({.Cap = Cap});
  }

  std::vector<VariantSetting> propose() {
    return Search ? Search->propose() : std::exchange(List, {});
  }
  std::vector<VariantSetting> carve(std::vector<Candidate> Made) {
    if (Search)
      return Search->carve(std::move(Made));
    std::vector<VariantSetting> All;
    for (const Candidate &C : Made)
      All.push_back(C.Setting);
    return All;
  }
  void learn(const std::map<VariantSetting, double> &Ratios) {
    if (Search)
      Search->learn(Ratios);
  }
  llvm::ArrayRef<CarvedVariant> carved() const {
    return Search ? llvm::ArrayRef(Search->carved()) : llvm::ArrayRef<CarvedVariant>();
  }

  std::map<VariantSetting, StaticMetrics> Metrics; ///< For all compiled settings and the default.

private:
  std::optional<KernelSearch> Search;
  std::vector<VariantSetting> List;
};

VariantRounds::VariantRounds(const TuningJob &Job, const JobSources &Sources,
                             const JobContext &Context, JobBuild &Built)
    : Job(Job), Sources(Sources), Context(Context), Built(Built),
      Compiler(Job, Sources, Context, Built), Added(Job.Kernels.size()) {
  for (auto [K, Made] : llvm::zip_equal(Job.Kernels, Built.Kernels)) {
    Made.Variants.resize(FirstPlace);
    for (JobVariant &V : Made.Variants)
      V.InModule = false;
    Made.Variants[DefaultPlace].CloneName = K.Traced.Kernel;
    Made.Variants[ControlPlace].CloneName = cloneName(K.Traced.Kernel, {});
    KnobSpace Space = knobSpaceOf(K, Sources.of(K.Modules.front()), Job, Context, Made);
    Searches.push_back(std::make_unique<Source>(std::move(Space), Context.Options));
  }
}

VariantRounds::~VariantRounds() = default;

/// Ends the search of \p Kernel. Only now are all carved settings known, so they are described
/// here.
void VariantRounds::endSearch(size_t Kernel) {
  if (Searches[Kernel])
    describeCarved(Kernel);
  Searches[Kernel].reset();
}

/// The settings of \p Kernel to compile now; none if its search is over.
std::vector<VariantSetting> VariantRounds::proposals(size_t Kernel) {
  const ParsedModule &M = Sources.of(Job.Kernels[Kernel].Modules.front());
  while (Searches[Kernel]) {
    Source &S = *Searches[Kernel];
    std::vector<VariantSetting> Wanted = S.propose(), Allowed;
    for (const VariantSetting &V : Wanted)
      if (auto Why = forbiddenSetting(V, M))
        Built.Kernels[Kernel].Dropped.push_back(variantName(V) + ": " + *Why);
      else
        Allowed.push_back(V);
    if (!Allowed.empty())
      return Allowed;
    if (Wanted.empty())
      endSearch(Kernel);
    else
      S.carve({});
  }
  return {};
}

void VariantRounds::addVariant(size_t Kernel, JobVariant V) {
  KernelBuild &K = Built.Kernels[Kernel];
  auto Same = llvm::find_if(K.Variants,
                            [&](const JobVariant &Old) { return Old.CodeDigest == V.CodeDigest; });
  if (Same != K.Variants.end()) {
    K.Dropped.push_back(
        variantName(V.Setting) + ": same code as " +
        (Same->Setting.isDefault() ? std::string("the default") : variantName(Same->Setting)));
    return;
  }
  V.CloneName = cloneName(Job.Kernels[Kernel].Traced.Kernel, V.Setting);
  V.InModule = false;
  Added[Kernel].push_back(K.Variants.size());
  K.Variants.push_back(std::move(V));
}

/// Gives the compiled proposals of \p Kernel to its search, and adds the variants that it chooses.
void VariantRounds::settle(size_t Kernel, llvm::ArrayRef<SettingRequest> Requests,
                           llvm::ArrayRef<CompiledSetting> Made) {
  KernelBuild &K = Built.Kernels[Kernel];
  Source &S = *Searches[Kernel];
  const LaunchShape &Shape = heaviestShape(Job.Kernels[Kernel].Traced);
  std::vector<Candidate> Candidates;
  std::map<VariantSetting, JobVariant> Sound;
  for (size_t I = 0; I < Requests.size(); ++I) {
    const VariantSetting &Setting = Requests[I].Setting;
    JobVariant V{Setting, "", Made[I].Resources, Made[I].CodeDigest, ""};
    V.Metrics = staticMetrics(Job.Model, V.Resources, Shape, Made[I].Counts);
    bool IsNew = !Setting.isDefault() && !S.Metrics.count(Setting);
    K.Compiled += IsNew;
    std::optional<std::string> Why;
    if (!Made[I].Failure.empty())
      Why = Made[I].Failure;
    else if (!Setting.isDefault())
      Why = forbidden(Job.Kernels[Kernel], K, V, Job);
    S.Metrics[Setting] = V.Metrics;
    if (Why) {
      K.Dropped.push_back(variantName(Setting) + ": " + *Why);
      continue;
    }
    Candidates.push_back({Setting, V.Metrics, V.CodeDigest});
    if (!Setting.isDefault()) {
      Sound[Setting] = std::move(V);
      continue;
    }
    for (JobVariant &Default : llvm::MutableArrayRef(K.Variants).take_front(2)) {
      Default.Resources = V.Resources;
      Default.CodeDigest = V.CodeDigest;
      Default.Metrics = V.Metrics;
    }
  }
  for (const VariantSetting &Chosen : S.carve(std::move(Candidates)))
    if (auto V = Sound.find(Chosen); V != Sound.end()) {
      addVariant(Kernel, std::move(V->second));
      Sound.erase(V);
    }
}

void VariantRounds::describeCarved(size_t Kernel) {
  const Source &S = *Searches[Kernel];
  std::vector<CarvedJobVariant> &Carved = Built.Kernels[Kernel].Carved;
  Carved.clear();
  for (const CarvedVariant &C : S.carved()) {
    auto Metrics = S.Metrics.find(C.Setting);
    Carved.push_back(
        {C.Setting, C.Reason, Metrics == S.Metrics.end() ? StaticMetrics() : Metrics->second});
  }
}

bool VariantRounds::next() {
  Added.assign(Job.Kernels.size(), {});
  while (true) {
    std::vector<SettingRequest> Requests;
    std::vector<std::pair<size_t, size_t>> Ranges; ///< First request and count, by kernel.
    for (size_t K = 0; K < Job.Kernels.size(); ++K) {
      size_t First = Requests.size();
      std::vector<VariantSetting> Wanted = proposals(K);
      if (!Wanted.empty() && Searches[K]->Metrics.empty())
        Requests.push_back({K, {}});
      for (const VariantSetting &V : Wanted)
        Requests.push_back({K, V});
      Ranges.emplace_back(First, Requests.size() - First);
    }
    if (Requests.empty())
      return false;
    std::vector<CompiledSetting> Made = Compiler.compile(Requests);
    for (size_t K = 0; K < Ranges.size(); ++K)
      if (auto [First, Count] = Ranges[K]; Count)
        settle(K, llvm::ArrayRef(Requests).slice(First, Count),
               llvm::ArrayRef(Made).slice(First, Count));
    if (llvm::any_of(Added, [](const std::vector<size_t> &V) { return !V.empty(); }))
      return true;
  }
}

void VariantRounds::makeAll() {
  while (next()) {
  }
  VariantSets All;
  for (const KernelBuild &K : Built.Kernels) {
    All.emplace_back();
    for (size_t V = FirstPlace; V < K.Variants.size(); ++V)
      All.back().push_back(V);
  }
  select(All);
  assemble();
}

void VariantRounds::withdraw(size_t Kernel, const std::string &Reason) {
  KernelBuild &K = Built.Kernels[Kernel];
  for (size_t V : Added[Kernel])
    K.Dropped.push_back(variantName(K.Variants[V].Setting) + ": " + Reason);
  if (!Added[Kernel].empty())
    K.Variants.resize(Added[Kernel].front());
  Added[Kernel].clear();
  endSearch(Kernel);
}

void VariantRounds::learn(size_t Kernel, const std::map<size_t, double> &Ratios) {
  if (!Searches[Kernel])
    return;
  std::map<VariantSetting, double> BySetting;
  for (const auto &[V, Ratio] : Ratios)
    BySetting[Built.Kernels[Kernel].Variants[V].Setting] = Ratio;
  Searches[Kernel]->learn(BySetting);
}

void VariantRounds::select(const VariantSets &Sets) {
  for (size_t K = 0; K < Job.Kernels.size(); ++K) {
    std::vector<JobVariant> &Variants = Built.Kernels[K].Variants;
    for (size_t V = 0; V < Variants.size(); ++V)
      Variants[V].InModule = !Sets[K].empty() && (V < 2 || llvm::is_contained(Sets[K], V));
  }
}

/// Removes the marks of all variants of \p Modules that set more than a register cap. Returns false
/// if there are none.
bool VariantRounds::dropBeyondCaps(const std::set<size_t> &Modules) {
  bool Any = false;
  for (size_t M : Modules)
    for (size_t Index : Job.Modules[M].Kernels) {
      KernelBuild &K = Built.Kernels[Index];
      for (JobVariant &V : llvm::drop_begin(K.Variants, 2)) {
        VariantSetting CapAlone;
        CapAlone.Cap = V.Setting.Cap;
        if (!V.InModule || V.Setting == CapAlone)
          continue;
        K.Dropped.push_back(variantName(V.Setting) + ": nvlink refuses the module with it");
        V.InModule = false;
        Any = true;
      }
    }
  return Any;
}

void VariantRounds::assemble() {
  assembleVariants(Job, Compiler, Sources, Context, Built);
  std::set<size_t> Refused = linkKernelVariants(Job, Sources, Context, Built);
  if (!Refused.empty() && dropBeyondCaps(Refused)) {
    assembleVariants(Job, Compiler, Sources, Context, Built);
    Refused = linkKernelVariants(Job, Sources, Context, Built);
  }
  leaveKernels(Refused, Job, Built);
  for (size_t K = 0; K < Job.Kernels.size(); ++K)
    if (!Built.Kernels[K].LeftReason.empty())
      endSearch(K);
}

llvm::Expected<Assembled> VariantRounds::assembleChosen(size_t Module,
                                                        llvm::ArrayRef<size_t> Chosen,
                                                        std::optional<unsigned> Level) const {
  llvm::StringMap<EntryEdit> Edits;
  for (size_t K : Job.Modules[Module].Kernels) {
    if (Chosen[K] < 2)
      continue;
    llvm::Expected<CloneRequest> Clone =
        Compiler.clone(Module, K, Built.Kernels[K].Variants[Chosen[K]].Setting);
    if (!Clone)
      return Clone.takeError();
    Edits[Clone->Entry] = Clone->Edit;
  }
  const ParsedModule &M = Sources.of(Module);
  llvm::Expected<std::string> Text = M.Ptx.withEdits(Edits);
  if (!Text)
    return Text.takeError();
  VariantSetting OfImage;
  OfImage.RegisterUsageLevel = Level;
  return carve::assemble(Context.T, Context.Runner, *Text,
                         ptxasOptionsFor(OfImage, M.Image.PtxasOptions), M.Image.PtxName);
}
