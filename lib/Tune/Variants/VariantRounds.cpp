#include "Tune/Variants/VariantRounds.h"

#include "Search/VariantEdit.h"
#include "Support/Clock.h"
#include "Support/Error.h"
#include "Support/Log.h"
#include "Tune/Job/DeviceLinks.h"
#include "Tune/Variants/KernelVariants.h"
#include "Tune/Variants/KnobSpaces.h"
#include "Tune/Variants/RoundCompile.h"
#include "Tune/Variants/SettingSource.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <chrono>

using namespace carve;

VariantRounds::VariantRounds(const TuningJob &Job, const JobSources &Sources,
                             const JobContext &Context, JobBuild &Built)
    : Job(Job), Sources(Sources), Context(Context), Built(Built),
      Compiler(Job, Sources, Context, Built), Joined(Job, Sources, Context, Compiler),
      Added(Job.Kernels.size()), Composed(Job.Kernels.size()) {
  for (auto [K, Made] : llvm::zip_equal(Job.Kernels, Built.Kernels)) {
    Made.Variants.resize(FirstPlace);
    for (JobVariant &V : Made.Variants)
      V.InModule = false;
    Made.Variants[DefaultPlace].CloneName = K.Traced.Kernel;
    Made.Variants[ControlPlace].CloneName = cloneName(K.Traced.Kernel, {});
    KnobSpace Space = knobSpaceOf(K, Sources.of(K.Modules.front()), Job, Context, Made);
    std::vector<VariantSetting> Earlier;
    if (K.Earlier)
      Earlier = K.Earlier->settings();
    for (const VariantSetting &V : Earlier)
      if (!Space.allows(V))
        Made.Dropped.push_back(variantName(V) + ": decided earlier, and not possible any more");
    Searches.push_back(std::make_unique<SettingSource>(Space, Context.Options, Earlier));
  }
}

VariantRounds::~VariantRounds() = default;

/// Ends the search of \p Kernel. Only now are all carved settings known, so they are described
/// here.
void VariantRounds::endSearch(size_t Kernel) {
  if (Searches[Kernel]) {
    KernelBuild &K = Built.Kernels[Kernel];
    K.End = Searches[Kernel]->end(K.BeyondDomain);
    describeCarved(Kernel);
  }
  Searches[Kernel].reset();
}

/// The settings of \p Kernel to compile now; none if nothing is worth trying.
std::vector<VariantRounds::Proposal> VariantRounds::proposals(size_t Kernel,
                                                              const RoundLimits &Limits) {
  const ParsedModule &M = Sources.of(Job.Kernels[Kernel].Modules.front());
  auto Has = [&](const std::vector<bool> &Flags) { return Kernel < Flags.size() && Flags[Kernel]; };
  const bool Uncompared = Has(Limits.Uncompared), Filled = Has(Limits.Filled);
  while (Searches[Kernel]) {
    SettingSource &S = *Searches[Kernel];
    std::vector<VariantSetting> Forbidden;
    std::vector<Proposal> Allowed;
    std::vector<VariantSetting> Proposed = S.propose(roomFor(Kernel, Limits));
    const size_t Promising = Proposed.size();
    if (Filled)
      S.fill(Proposed, roomFor(Kernel, Limits));
    for (const auto &[Rank, V] : llvm::enumerate(Proposed))
      if (Uncompared && V.needsComparedOutput()) {
        Built.Kernels[Kernel].Dropped.push_back(
            variantName(V) + ": may move last bits, and nothing compares the kernel's output");
        Forbidden.push_back(V);
      } else if (auto Why = forbiddenSetting(V, M)) {
        Built.Kernels[Kernel].Dropped.push_back(variantName(V) + ": " + *Why);
        Forbidden.push_back(V);
      } else {
        Allowed.push_back({V, Rank >= Promising});
      }
    if (!Forbidden.empty())
      S.forbid(Forbidden);
    if (!Allowed.empty() || Forbidden.empty())
      return Allowed;
  }
  return {};
}

void VariantRounds::addVariant(size_t Kernel, JobVariant V) {
  KernelBuild &K = Built.Kernels[Kernel];
  auto Same = llvm::find_if(K.Variants, [&](const JobVariant &Old) {
    return Old.CodeDigest == V.CodeDigest && Old.Setting.mayStandFor(V.Setting);
  });
  // A composed variant with a single code has that of another variant, for fewer launches.
  if (Same != K.Variants.end() && (!isComposed(V) || Same->Setting.isDefault())) {
    K.Dropped.push_back(nameOf(V) + ": same code as " +
                        (Same->Setting.isDefault() ? std::string("the default") : nameOf(*Same)));
    return;
  }
  if (V.Codes.empty())
    V.CloneName = cloneName(Job.Kernels[Kernel].Traced.Kernel, V.Setting);
  V.InModule = false;
  Added[Kernel].push_back(K.Variants.size());
  K.Variants.push_back(std::move(V));
}

/// Gives the compiled proposals of \p Kernel to its search, and adds the variants that it chooses.
void VariantRounds::settle(size_t Kernel, llvm::ArrayRef<SettingRequest> Requests,
                           llvm::ArrayRef<CompiledSetting> Made, size_t Most) {
  KernelBuild &K = Built.Kernels[Kernel];
  SettingSource &S = *Searches[Kernel];
  const LaunchShape &Shape = heaviestShape(Job.Kernels[Kernel].Traced);
  std::vector<Candidate> Candidates;
  std::map<VariantSetting, JobVariant> Sound;
  std::vector<VariantSetting> Tried;
  for (size_t I = 0; I < Requests.size(); ++I) {
    const VariantSetting &Setting = Requests[I].Setting;
    Tried.push_back(Setting);
    JobVariant V{Setting, "", Made[I].Resources, Made[I].CodeDigest, ""};
    V.Codes = Made[I].Codes;
    if (isDispatched(V))
      summarizeCodes(V);
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
  for (const VariantSetting &Chosen : S.admit(Tried, std::move(Candidates), Most))
    if (auto V = Sound.find(Chosen); V != Sound.end()) {
      addVariant(Kernel, std::move(V->second));
      Sound.erase(V);
    }
}

void VariantRounds::describeCarved(size_t Kernel) {
  SettingSource &S = *Searches[Kernel];
  std::vector<CarvedJobVariant> &Carved = Built.Kernels[Kernel].Carved;
  Carved.clear();
  for (const CarvedVariant &C : S.finish()) {
    auto Metrics = S.Metrics.find(C.Setting);
    Carved.push_back(
        {C.Setting, C.Reason, Metrics == S.Metrics.end() ? StaticMetrics() : Metrics->second});
  }
}

/// How many variants of \p Kernel may still be added in this round.
size_t VariantRounds::roomFor(size_t Kernel, const RoundLimits &Limits) const {
  return Limits.Timable[Kernel] - std::min(Added[Kernel].size(), Limits.Timable[Kernel]);
}

bool VariantRounds::mayCompose(size_t Kernel, const Composition &Wanted) const {
  return !Wanted.Codes.empty() && !Composed[Kernel].count(Wanted.Name);
}

/// Compiles the compositions of \p Limits and adds those that may be used. What is pending at \p
/// End may be tried again. The searches take no part: they know nothing of single shapes.
void VariantRounds::compose(const RoundLimits &Limits, FlavourModules::Until End) {
  std::vector<SettingRequest> Requests;
  for (size_t K = 0; K < Limits.Composed.size(); ++K)
    if (mayCompose(K, Limits.Composed[K]) && roomFor(K, Limits) > 0)
      Requests.push_back({K, Limits.Composed[K].Codes.front().Setting, Limits.Composed[K]});
  std::vector<CompiledSetting> Made = Compiler.compile(Requests, End, Limits.CompileS);
  for (size_t I = 0; I < Requests.size(); ++I) {
    const SettingRequest &R = Requests[I];
    KernelBuild &K = Built.Kernels[R.Kernel];
    if (Made[I].Pending)
      continue;
    Composed[R.Kernel].insert(R.Composed.Name);
    ++K.Compiled;
    std::optional<std::string> Why;
    JobVariant V{R.Setting, "", {}, "", ""};
    V.Composed = R.Composed.Name;
    V.Codes = std::move(Made[I].Codes);
    if (Made[I].Failure.empty()) {
      summarizeCodes(V);
      V.Metrics = staticMetrics(Job.Model, V.Resources, heaviestShape(Job.Kernels[R.Kernel].Traced),
                                Made[I].Counts);
      Why = forbidden(Job.Kernels[R.Kernel], K, V, Job);
    } else {
      Why = Made[I].Failure;
    }
    if (Why)
      K.Dropped.push_back(R.Composed.Name + ": " + *Why);
    else
      addVariant(R.Kernel, std::move(V));
  }
}

/// What all searches propose, those requests first that promise most for the program
/// (requestWeight). The default of a kernel that is new comes before its first setting.
std::vector<SettingRequest> VariantRounds::wishes(const RoundLimits &Limits) {
  struct Wish {
    double Weight;
    SettingRequest Request;
  };
  std::vector<Wish> All;
  for (size_t K = 0; K < Job.Kernels.size(); ++K) {
    std::vector<Proposal> Wanted = proposals(K, Limits);
    double Share = Job.Kernels[K].Traced.Share;
    if (!Wanted.empty() && Searches[K]->Metrics.empty())
      All.push_back({Share, {K, {}}});
    for (const auto &[Rank, P] : llvm::enumerate(Wanted))
      All.push_back({requestWeight(Share, Rank, P.Fills), {K, P.Setting}});
  }
  llvm::stable_sort(All, [](const Wish &A, const Wish &B) { return A.Weight > B.Weight; });
  std::vector<SettingRequest> Requests;
  for (Wish &W : All)
    Requests.push_back(W.Request);
  return Requests;
}

bool VariantRounds::next(const RoundLimits &Limits) {
  Added.assign(Job.Kernels.size(), {});
  auto Begin = std::chrono::steady_clock::now();
  // If cicc takes long for a composition, half of the time is left for the searches.
  FlavourModules::Until End;
  if (Limits.CompileS)
    End = Begin + std::chrono::microseconds(int64_t(*Limits.CompileS / 2 * 1e6));
  compose(Limits, End);
  auto AnyAdded = [&] {
    return llvm::any_of(Added, [](const std::vector<size_t> &V) { return !V.empty(); });
  };
  std::optional<double> Left = Limits.CompileS;
  if (Left)
    Left = *Left - secondsSince(Begin);
  while (!Left || *Left > 0) {
    std::vector<SettingRequest> Wanted = wishes(Limits);
    if (Wanted.empty())
      return AnyAdded();
    Wanted.erase(Wanted.begin() + long(std::min(Wanted.size(), Limits.Most)), Wanted.end());
    std::map<size_t, std::vector<SettingRequest>> Requests; // By kernel.
    std::map<size_t, std::vector<CompiledSetting>> Made;
    std::set<std::pair<size_t, VariantSetting>> Compiled;
    for (auto &[Request, Result] : compileInTime(Compiler, Wanted, Left, Limits.PatienceS)) {
      Compiled.insert({Request.Kernel, Request.Setting});
      Requests[Request.Kernel].push_back(Request);
      Made[Request.Kernel].push_back(std::move(Result));
    }
    llvm::erase_if(Wanted, [&](const SettingRequest &R) {
      return R.Setting.isDefault() || !Compiled.count({R.Kernel, R.Setting});
    });
    // A kernel without room has had no round. What is compiled of it is kept.
    for (const auto &[K, Room] : roomInModule(Compiler, Joined, Wanted, Limits.FirstAssemblyS))
      settle(K, Requests.at(K), Made.at(K), std::min(Room, roomFor(K, Limits)));
    if (AnyAdded())
      return true;
    if (Left)
      Left = *Limits.CompileS - secondsSince(Begin);
  }
  return AnyAdded();
}

void VariantRounds::finish() {
  Compiler.abandonFlavours();
  for (size_t K = 0; K < Job.Kernels.size(); ++K)
    endSearch(K);
}

void VariantRounds::makeAll(size_t Most) {
  next({std::vector<size_t>(Job.Kernels.size(), Most), std::nullopt});
  finish();
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
    K.Dropped.push_back(nameOf(K.Variants[V]) + ": " + Reason);
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
    if (const JobVariant &Timed = Built.Kernels[Kernel].Variants[V]; !isComposed(Timed))
      BySetting[Timed.Setting] = Ratio;
  Searches[Kernel]->learn(BySetting);
}

double VariantRounds::promise(size_t Kernel, llvm::ArrayRef<size_t> Again) const {
  if (!Searches[Kernel])
    return 0;
  std::vector<VariantSetting> Settings;
  for (size_t V : Again)
    if (const JobVariant &Made = Built.Kernels[Kernel].Variants[V]; !isComposed(Made))
      Settings.push_back(Made.Setting);
  return Searches[Kernel]->promise(Settings);
}

void VariantRounds::select(const VariantSets &Sets) {
  for (size_t K = 0; K < Job.Kernels.size(); ++K) {
    std::vector<JobVariant> &Variants = Built.Kernels[K].Variants;
    for (size_t V = 0; V < Variants.size(); ++V)
      Variants[V].InModule = !Sets[K].empty() && (V < 2 || llvm::is_contained(Sets[K], V));
  }
}

/// Whether the modules hold all variants of \p Sets, and need not be linked.
bool VariantRounds::hold(const VariantSets &Sets) const {
  if (!Built.Links.empty())
    return false;
  for (size_t K = 0; K < Job.Kernels.size(); ++K)
    for (size_t V : Sets[K])
      if (!Assembled.count({K, nameOf(Built.Kernels[K].Variants[V])}))
        return false;
  return true;
}

void VariantRounds::settleOn(const VariantSets &Sets, bool MayKeep) {
  select(Sets);
  if (!MayKeep || !hold(Sets))
    return assemble();
  for (size_t M = 0; M < Job.Modules.size(); ++M)
    if (!Built.times(Job.Modules[M]))
      Built.Modules[M].Cubin.clear();
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
        K.Dropped.push_back(nameOf(V) + ": nvlink refuses the module with it");
        V.InModule = false;
        Any = true;
      }
    }
  return Any;
}

void VariantRounds::assemble() {
  assembleVariants(Job, Compiler, Joined, Sources, Context, Built);
  std::set<size_t> Refused = linkKernelVariants(Job, Sources, Context, Built);
  if (!Refused.empty() && dropBeyondCaps(Refused)) {
    assembleVariants(Job, Compiler, Joined, Sources, Context, Built);
    Refused = linkKernelVariants(Job, Sources, Context, Built);
  }
  leaveKernels(Refused, Job, Built);
  Assembled.clear();
  for (size_t K = 0; K < Job.Kernels.size(); ++K)
    for (const JobVariant &V : Built.Kernels[K].Variants)
      if (V.InModule)
        Assembled.insert({K, nameOf(V)});
  for (size_t K = 0; K < Job.Kernels.size(); ++K)
    if (!Built.Kernels[K].LeftReason.empty())
      endSearch(K);
}
