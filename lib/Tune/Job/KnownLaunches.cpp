#include "Tune/Job/KnownLaunches.h"

#include "Nvcc/Text/KernelAssumptions.h"
#include "Ptx/LaunchConstants.h"
#include "Ptx/PointerSources.h"
#include "Store/FlavourPtx.h"
#include "Support/Log.h"
#include "Support/Parallel.h"

#include <algorithm>
#include <array>
#include <map>

using namespace carve;

/// The GPU time of all launches of \p Kernel.
static uint64_t totalNs(const TracedKernel &Kernel) {
  uint64_t Ns = 0;
  for (const KernelLaunches &L : Kernel.Shapes)
    Ns += L.TotalNs;
  return Ns;
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
    double RestNs = double(TotalNs);
    for (const KnownGroup &G : Groups)
      RestNs -= double(G.TotalNs);
    return RestNs >= LeastGroupShare * double(TotalNs);
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

/// Returns \p Seen, of which only those words of structures are left that the entry reads as
/// integers (\p Reads). The others may be addresses or padding, and of what bytes a floating-point
/// number has, cicc draws no conclusion. \p Types are those of the parameters.
static KnownLaunch withReadWords(KnownLaunch Seen, const LaunchReads &Reads,
                                 llvm::ArrayRef<std::string> Types) {
  auto InStructure = [&](const ArgumentValue &V) {
    return llvm::is_contained(Reads.Structures, V.Parameter);
  };
  std::vector<ArgumentValue> Read = constantsOf(Seen, Reads, {Types, false}).Values;
  llvm::erase_if(Seen.Values, InStructure);
  for (const ArgumentValue &V : Read)
    if (InStructure(V))
      addValue(Seen.Values, V);
  return Seen;
}

/// Sets JobKernel::Known and KnownShapes of \p Wanted, whose text has the definitions \p Kernels.
/// Values of floating-point numbers are known only with \p Floats.
static void findKnownLaunchesOf(const WantedKernel &Wanted, const ProbeRecord &Trace,
                                const PtxModule &Ptx, llvm::ArrayRef<KernelDefinition> Kernels,
                                bool Floats) {
  JobKernel &K = *Wanted.Kernel;
  const std::vector<std::string> Types = parameterTypes(K.Traced.Kernel);
  auto Written = [&](KnownLaunch Known) -> llvm::Expected<KnownLaunch> {
    Known = withReadWords(std::move(Known), Wanted.Reads, Types);
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
  K.KnownShapes =
      chooseGroups(sameInShapes(Trace, K.Traced, Ptx, WrittenForShape), K.Known, totalNs(K.Traced));
}

/// Sets JobKernel::Apart and Restrict of \p K, whose text has the definitions \p Kernels.
static void findRestrictPointers(JobKernel &K, const PtxModule &Ptx,
                                 llvm::ArrayRef<KernelDefinition> Kernels) {
  // The driver takes 75 ns for each address. That may be 1 % of the kernel's time.
  constexpr double AskNs = 75, MostShare = 0.01;
  const std::string &Name = K.Traced.Kernel;
  llvm::Expected<std::vector<PointerSource>> Sources = Ptx.pointerSources(Name);
  auto Log = [&](llvm::Error Why) {
    logLine(Name + ": no restrict pointers: " + llvm::toString(std::move(Why)));
  };
  if (!Sources)
    return Log(Sources.takeError());
  std::vector<PointerPlace> Places;
  for (const PointerSource &S : *Sources)
    Places.push_back(S.Place);
  const bool IsLong =
      double(totalNs(K.Traced)) * MostShare >= AskNs * double(Places.size() * K.Traced.Launches);
  if (Places.size() < 2 || !IsLong || !K.Traced.Arguments ||
      K.Traced.Arguments->apart(Places) != KernelArguments::Match::Always)
    return;
  std::vector<unsigned> Parameters = restrictParameters(*Sources);
  if (llvm::Error E = restrictable(Kernels, Name, Parameters).takeError())
    return Log(std::move(E));
  K.Apart = std::move(Places);
  K.Restrict = std::move(Parameters);
}

/// Sets JobKernel::Known, KnownShapes, KnownPtx and Apart of the kernels of \p Job whose first
/// module is number \p Index, which was made from \p M.
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
  for (const WantedKernel &K : Wanted) {
    findKnownLaunchesOf(K, Trace, M.Ptx, *Kernels, Floats);
    findRestrictPointers(*K.Kernel, M.Ptx, *Kernels);
  }
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
