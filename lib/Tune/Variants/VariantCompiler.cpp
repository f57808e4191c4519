// ptxas compiles only the entries that `--entry` names, and gives them the same code as in the
// whole module. With -c, ptxas ignores `--entry` and compiles all entries.

#include "Tune/Variants/VariantCompiler.h"
#include "Cubin/Assembler.h"
#include "Cubin/Cubin.h"
#include "Metrics/Counts/CodeCounts.h"
#include "Metrics/Counts/PtxCounts.h"
#include "Search/VariantEdit.h"
#include "Support/Error.h"
#include "Support/Log.h"
#include "Support/Parallel.h"
#include "Tune/Variants/KnobSpaces.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Threading.h"

#include <algorithm>
#include <mutex>

using namespace carve;

std::string carve::cloneName(llvm::StringRef Kernel, const VariantSetting &Setting) {
  std::string Name = Setting.isDefault() ? "control" : variantName(Setting);
  std::replace(Name.begin(), Name.end(), '-', '_');
  return (Kernel + "__carve_" + Name).str();
}

/// What cicc is told for \p Setting of kernel number \p Kernel.
FrontEndSetting VariantCompiler::flavourOf(size_t Kernel, const VariantSetting &Setting) const {
  const JobKernel &K = Job.Kernels[Kernel];
  return Setting.frontEnd().forKernel({K.Traced.Kernel, K.Known});
}

void VariantCompiler::prepareFlavours(llvm::ArrayRef<SettingRequest> Requests, bool AllModules,
                                      FlavourModules::Until End) {
  std::set<FlavourModules::Key> Wanted;
  for (const SettingRequest &R : Requests) {
    if (R.Setting.frontEnd().isDefault())
      continue;
    llvm::ArrayRef<size_t> Modules = Job.Kernels[R.Kernel].Modules;
    for (size_t M : AllModules ? Modules : Modules.take_front())
      Wanted.insert({M, flavourOf(R.Kernel, R.Setting)});
  }
  Flavours.prepare(Wanted, End);
}

llvm::Expected<CloneRequest> VariantCompiler::clone(size_t Module, size_t Kernel,
                                                    const VariantSetting &Setting) const {
  const JobKernel &K = Job.Kernels[Kernel];
  CloneRequest Clone{K.Traced.Kernel, cloneName(K.Traced.Kernel, Setting), {}};
  llvm::Expected<EntryEdit> Edit = entryEdit(
      Setting, *Sources.of(Module).Ptx.find(K.Traced.Kernel),
      Built.Kernels[Kernel].SmemSpillingThreads,
      [&](const FrontEndSetting &) { return Flavours.find(Module, flavourOf(Kernel, Setting)); },
      Sources.of(Module).Source.RegisterCap, K.knownFor(Setting));
  if (!Edit)
    return Edit.takeError();
  Clone.Edit = *Edit;
  return Clone;
}

/// The setting of \p R, without its front-end cap and knob if they do not change the kernel's PTX.
VariantSetting VariantCompiler::withoutEmptyFlavour(const SettingRequest &R) const {
  VariantSetting Setting = R.Setting;
  if (Setting.frontEnd().isDefault())
    return Setting;
  const JobKernel &K = Job.Kernels[R.Kernel];
  llvm::Expected<const PtxModule *> Flavour =
      Flavours.find(K.Modules.front(), flavourOf(R.Kernel, Setting));
  llvm::Expected<std::string> Digest =
      Flavour ? (*Flavour)->kernelDigest(K.Traced.Kernel) : Flavour.takeError();
  if (!Digest) {
    llvm::consumeError(Digest.takeError()); // clone() fails with the same error.
    return Setting;
  }
  if (*Digest == K.KernelDigest)
    Setting.setFrontEnd({});
  return Setting;
}

/// Splits \p All into pieces of about equal size, about as many as there are cores. Each piece is
/// of one module.
std::vector<std::vector<VariantCompiler::Pending>>
VariantCompiler::split(const std::vector<Pending> &All) const {
  std::map<size_t, std::vector<Pending>> ByModule;
  for (const Pending &P : All)
    ByModule[Job.Kernels[P.first.first].Modules.front()].push_back(P);
  size_t Cores = std::max(1u, llvm::hardware_concurrency().compute_thread_count());
  std::vector<std::vector<Pending>> Pieces;
  for (auto &[Module, List] : ByModule) {
    size_t Count = std::min(List.size(), (List.size() * Cores + All.size() - 1) / All.size());
    size_t First = Pieces.size();
    Pieces.resize(First + Count);
    for (size_t I = 0; I < List.size();
         ++I) // Neighbours take similar times, so they go to different pieces.
      Pieces[First + I % Count].push_back(List[I]);
  }
  return Pieces;
}

/// The counts of the machine code \p Name in \p CubinBytes. Only the PTX tells how often its loops
/// run and what is coalesced; \p OfPtx keeps these counts by kernel and front-end setting. Returns
/// nothing if the code cannot be counted, which is logged.
std::optional<KernelCounts> VariantCompiler::countsOf(const Key &K, llvm::StringRef CubinBytes,
                                                      llvm::StringRef Name,
                                                      std::map<Key, CountedKernel> &OfPtx) const {
  const JobKernel &Kernel = Job.Kernels[K.first];
  VariantSetting Flavour;
  Flavour.setFrontEnd(K.second.frontEnd());
  auto [Known, New] = OfPtx.try_emplace({K.first, Flavour});
  if (New) {
    const PtxModule *Ptx = &Sources.of(Kernel.Modules.front()).Ptx;
    if (!Flavour.isDefault())
      Ptx = llvm::cantFail(Flavours.find(Kernel.Modules.front(), flavourOf(K.first, Flavour)));
    llvm::Expected<CountedKernel> Counted =
        countPtxKernel(*Ptx, Kernel.Traced.Kernel, {}, heaviestShape(Kernel.Traced).Block[0]);
    if (Counted)
      Known->second = std::move(*Counted);
    else
      logLine(Name + ": not counted: " + llvm::toString(Counted.takeError()));
  }
  TripCounts Trips;
  Trips.OfPtx = Known->second.Loops;
  llvm::Expected<KernelCounts> Counts = countCode(CubinBytes, Name, Trips);
  if (!Counts) {
    logLine(Name + ": not counted: " + llvm::toString(Counts.takeError()));
    return std::nullopt;
  }
  Counts->CoalescedShare = Known->second.Counts.CoalescedShare;
  return *Counts;
}

llvm::Error VariantCompiler::assemblePiece(llvm::ArrayRef<Pending> Piece) const {
  std::vector<CloneRequest> Clones;
  std::vector<std::string> Names;
  const size_t Module = Job.Kernels[Piece.front().first.first].Modules.front();
  const ParsedModule &M = Sources.of(Module);
  for (const auto &[K, Result] : Piece) {
    Names.push_back(Job.Kernels[K.first].Traced.Kernel);
    if (K.second.isDefault())
      continue;
    llvm::Expected<CloneRequest> Clone = clone(Module, K.first, K.second);
    if (!Clone)
      return Clone.takeError();
    Names.back() = Clone->CloneName;
    Clones.push_back(std::move(*Clone));
  }
  llvm::Expected<std::string> Text = M.Ptx.withClones(Clones);
  if (!Text)
    return Text.takeError();
  std::vector<std::string> Options = M.Image.PtxasOptions;
  for (const std::string &Name : Names)
    Options.insert(Options.end(), {"--entry", Name});
  llvm::Expected<Assembled> Made =
      assemble(Context.T, Context.Runner, *Text, Options, M.Image.PtxName);
  if (!Made)
    return Made.takeError();
  llvm::Expected<Cubin> Image = parseCubin(Made->CubinBytes);
  if (!Image)
    return Image.takeError();
  llvm::StringMap<const CubinKernel *> Compiled;
  for (const CubinKernel &K : Image->Kernels)
    Compiled[K.Resources.Name] = &K;
  llvm::StringMap<const KernelResources *> Reported;
  for (const KernelResources &R : Made->Kernels)
    Reported[R.Name] = &R;
  std::map<Key, CountedKernel> OfPtx;
  for (size_t I = 0; I < Piece.size(); ++I) {
    auto C = Compiled.find(Names[I]);
    if (C == Compiled.end())
      return malformed("ptxas left out " + Names[I]);
    CompiledSetting &Result = *Piece[I].second;
    auto R = Reported.find(Names[I]);
    Result.Resources = R == Reported.end() ? C->second->Resources : *R->second;
    Result.CodeDigest = C->second->CodeDigest;
    Result.Counts = countsOf(Piece[I].first, Made->CubinBytes, Names[I], OfPtx);
  }
  return llvm::Error::success();
}

std::string carve::firstLine(llvm::Error Failed) {
  return llvm::StringRef(llvm::toString(std::move(Failed))).ltrim().split('\n').first.rtrim().str();
}

void VariantCompiler::compilePiece(llvm::ArrayRef<Pending> Piece) const {
  llvm::Error Failed = assemblePiece(Piece);
  if (!Failed)
    return;
  std::string Why = firstLine(std::move(Failed));
  if (Piece.size() == 1) {
    Piece.front().second->Failure = Why.empty() ? "not assembled" : Why;
    return;
  }
  for (const Pending &P : Piece)
    compilePiece(P);
}

std::vector<CompiledSetting> VariantCompiler::compile(llvm::ArrayRef<SettingRequest> Requests,
                                                      FlavourModules::Until End) {
  prepareFlavours(Requests, /*AllModules=*/false, End);
  std::vector<std::optional<Key>> Keys; // Nothing for what is pending.
  std::vector<Pending> New;
  for (const SettingRequest &R : Requests) {
    Keys.emplace_back();
    if (!R.Setting.frontEnd().isDefault() &&
        !Flavours.isReady({Job.Kernels[R.Kernel].Modules.front(), flavourOf(R.Kernel, R.Setting)}))
      continue;
    Keys.back() = Key(R.Kernel, withoutEmptyFlavour(R));
    if (auto [It, Inserted] = Done.try_emplace(*Keys.back()); Inserted)
      New.emplace_back(It->first, &It->second);
  }
  if (!New.empty()) {
    const size_t All = New.size();
    std::vector<std::vector<Pending>> Pieces = split(New);
    std::mutex Telling;
    size_t Ready = 0;
    Context.Progress.step("compiling variants", Ready, All);
    runInParallel(Pieces.size(), [&](size_t I) {
      compilePiece(Pieces[I]);
      std::lock_guard<std::mutex> Guard(Telling);
      Context.Progress.step("compiling variants", Ready += Pieces[I].size(), All);
    });
  }
  std::vector<CompiledSetting> Results;
  for (const std::optional<Key> &K : Keys) {
    Results.push_back(K ? Done.at(*K) : CompiledSetting());
    Results.back().Pending = !K;
  }
  return Results;
}
