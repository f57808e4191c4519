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

/// The codes that \p R asks for, in the order in which launches are compared with them. With
/// FrontEndKnob::KnownShapes there are several.
std::vector<VariantCompiler::Code> VariantCompiler::codesOf(const SettingRequest &R) const {
  const JobKernel &K = Job.Kernels[R.Kernel];
  if (R.Setting.FrontEnd == FrontEndKnob::KnownLaunch)
    return {{R.Kernel, R.Setting, K.Known}};
  if (R.Setting.KnownPtx)
    return {{R.Kernel, R.Setting, K.KnownPtx}};
  if (R.Setting.FrontEnd != FrontEndKnob::KnownShapes)
    return {{R.Kernel, R.Setting, {}}};
  VariantSetting OfEach = R.Setting;
  OfEach.FrontEnd = FrontEndKnob::KnownLaunch;
  std::vector<Code> Codes;
  for (const KnownLaunch &Known : K.KnownShapes)
    Codes.push_back({R.Kernel, OfEach, Known});
  return Codes;
}

/// What cicc is told for \p C.
FrontEndSetting VariantCompiler::flavourOf(const Code &C) const {
  return C.Setting.frontEnd().forKernel({Job.Kernels[C.Kernel].Traced.Kernel, C.Known});
}

void VariantCompiler::prepareFlavours(llvm::ArrayRef<SettingRequest> Requests, bool AllModules,
                                      FlavourModules::Until End) {
  std::set<FlavourModules::Key> Wanted;
  for (const SettingRequest &R : Requests) {
    if (R.Setting.frontEnd().isDefault())
      continue;
    llvm::ArrayRef<size_t> Modules = Job.Kernels[R.Kernel].Modules;
    for (size_t M : AllModules ? Modules : Modules.take_front())
      for (const Code &C : codesOf(R))
        Wanted.insert({M, flavourOf(C)});
  }
  Flavours.prepare(Wanted, End);
}

/// The clone \p Name in \p Module that is \p C.
llvm::Expected<CloneRequest> VariantCompiler::clone(size_t Module, const Code &C,
                                                    std::string Name) const {
  const JobKernel &K = Job.Kernels[C.Kernel];
  CloneRequest Clone{K.Traced.Kernel, std::move(Name), {}};
  llvm::Expected<EntryEdit> Edit = entryEdit(
      C.Setting, *Sources.of(Module).Ptx.find(K.Traced.Kernel),
      Built.Kernels[C.Kernel].SmemSpillingThreads,
      [&](const FrontEndSetting &) { return Flavours.find(Module, flavourOf(C)); },
      Sources.of(Module).Source.RegisterCap, C.Known);
  if (!Edit)
    return Edit.takeError();
  Clone.Edit = *Edit;
  return Clone;
}

llvm::Expected<std::vector<CloneRequest>> VariantCompiler::clones(size_t Module, size_t Kernel,
                                                                  const JobVariant &Variant) const {
  std::vector<std::pair<Code, std::string>> Wanted; // Each with its clone's name.
  for (const GuardedCode &C : Variant.Codes)
    Wanted.push_back({{Kernel, C.Setting, C.Launch}, C.CloneName});
  if (Wanted.empty())
    Wanted.push_back({{Kernel, Variant.Setting, {}}, Variant.CloneName});
  std::vector<CloneRequest> Clones;
  for (auto &[C, Name] : Wanted) {
    llvm::Expected<CloneRequest> Clone = clone(Module, C, std::move(Name));
    if (!Clone)
      return Clone.takeError();
    Clones.push_back(std::move(*Clone));
  }
  return Clones;
}

/// \p C without its front-end cap and knob if they do not change the kernel's PTX.
VariantCompiler::Code VariantCompiler::withoutEmptyFlavour(Code C) const {
  if (C.Setting.frontEnd().isDefault())
    return C;
  const JobKernel &K = Job.Kernels[C.Kernel];
  llvm::Expected<const PtxModule *> Flavour = Flavours.find(K.Modules.front(), flavourOf(C));
  llvm::Expected<std::string> Digest =
      Flavour ? (*Flavour)->kernelDigest(K.Traced.Kernel) : Flavour.takeError();
  if (!Digest) {
    llvm::consumeError(Digest.takeError()); // clone() fails with the same error.
    return C;
  }
  if (*Digest == K.KernelDigest) {
    C.Setting.setFrontEnd({});
    if (!C.Setting.KnownPtx)
      C.Known = {};
  }
  return C;
}

/// Splits \p All into pieces of about equal size, about as many as there are cores. Each piece is
/// of one module, and of settings for which ptxas has the same options.
std::vector<std::vector<VariantCompiler::Pending>>
VariantCompiler::split(const std::vector<Pending> &All) const {
  std::map<std::pair<size_t, AssemblerSetting>, std::vector<Pending>> ByRun;
  for (const Pending &P : All)
    ByRun[{Job.Kernels[P.first.Kernel].Modules.front(), P.first.Setting.assembler()}].push_back(P);
  size_t Cores = std::max(1u, llvm::hardware_concurrency().compute_thread_count());
  std::vector<std::vector<Pending>> Pieces;
  for (auto &[Run, List] : ByRun) {
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
std::optional<KernelCounts> VariantCompiler::countsOf(const Code &C, llvm::StringRef CubinBytes,
                                                      llvm::StringRef Name,
                                                      std::map<Code, CountedKernel> &OfPtx) const {
  const JobKernel &Kernel = Job.Kernels[C.Kernel];
  Code Flavour{C.Kernel, {}, C.Known};
  Flavour.Setting.setFrontEnd(C.Setting.frontEnd());
  auto [Known, New] = OfPtx.try_emplace(Flavour);
  if (New) {
    const PtxModule *Ptx = &Sources.of(Kernel.Modules.front()).Ptx;
    if (!Flavour.Setting.isDefault())
      Ptx = llvm::cantFail(Flavours.find(Kernel.Modules.front(), flavourOf(Flavour)));
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
  const size_t Module = Job.Kernels[Piece.front().first.Kernel].Modules.front();
  const ParsedModule &M = Sources.of(Module);
  for (const auto &[C, Result] : Piece) {
    const std::string &Kernel = Job.Kernels[C.Kernel].Traced.Kernel;
    Names.push_back(Kernel);
    if (C.Setting.isDefault())
      continue;
    // One setting may be there for several launches.
    std::string Name = cloneName(Kernel, C.Setting);
    if (!C.Known.empty())
      Name += "_" + std::to_string(Names.size());
    llvm::Expected<CloneRequest> Clone = clone(Module, C, std::move(Name));
    if (!Clone)
      return Clone.takeError();
    Names.back() = Clone->CloneName;
    Clones.push_back(std::move(*Clone));
  }
  llvm::Expected<std::string> Text = M.Ptx.withClones(Clones);
  if (!Text)
    return Text.takeError();
  std::vector<std::string> Options =
      ptxasOptionsFor(Piece.front().first.Setting.assembler(), M.Image.PtxasOptions);
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
  std::map<Code, CountedKernel> OfPtx;
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

/// The result for \p R, whose codes \p Codes were compiled as \p Ready. An element of \p Ready is
/// absent if cicc has not made its PTX yet.
CompiledSetting VariantCompiler::joined(const SettingRequest &R, llvm::ArrayRef<Code> Codes,
                                        llvm::ArrayRef<std::optional<Code>> Ready) const {
  CompiledSetting All;
  All.Pending = llvm::any_of(Ready, [](const std::optional<Code> &C) { return !C; });
  if (All.Pending)
    return All;
  for (const std::optional<Code> &C : Ready)
    if (const CompiledSetting &Own = Done.at(*C); !Own.Failure.empty())
      return Own;
  All = Done.at(*Ready.front());
  if (!R.Setting.isForKnownLaunches())
    return All;
  const std::string Name = cloneName(Job.Kernels[R.Kernel].Traced.Kernel, R.Setting);
  for (auto [Asked, C] : llvm::zip_equal(Codes, Ready)) {
    const CompiledSetting &Own = Done.at(*C);
    std::string Number = Codes.size() > 1 ? "_" + std::to_string(All.Codes.size() + 1) : "";
    All.Codes.push_back({Asked.Known, Asked.Setting, Name + Number, Own.Resources, Own.CodeDigest});
  }
  return All;
}

std::vector<CompiledSetting> VariantCompiler::compile(llvm::ArrayRef<SettingRequest> Requests,
                                                      FlavourModules::Until End) {
  prepareFlavours(Requests, /*AllModules=*/false, End);
  std::vector<std::vector<Code>> Codes;                // By request.
  std::vector<std::vector<std::optional<Code>>> Ready; // Nothing for what is pending.
  std::vector<Pending> New;
  for (const SettingRequest &R : Requests) {
    Codes.push_back(codesOf(R));
    Ready.emplace_back();
    for (const Code &C : Codes.back()) {
      Ready.back().emplace_back();
      if (!C.Setting.frontEnd().isDefault() &&
          !Flavours.isReady({Job.Kernels[C.Kernel].Modules.front(), flavourOf(C)}))
        continue;
      Code Made = withoutEmptyFlavour(C);
      Ready.back().back() = Made;
      if (auto [It, Inserted] = Done.try_emplace(std::move(Made)); Inserted)
        New.emplace_back(It->first, &It->second);
    }
  }
  if (!New.empty()) {
    const size_t All = New.size();
    std::vector<std::vector<Pending>> Pieces = split(New);
    std::mutex Telling;
    size_t Made = 0;
    Context.Progress.step("compiling variants", Made, All);
    runInParallel(Pieces.size(), [&](size_t I) {
      compilePiece(Pieces[I]);
      std::lock_guard<std::mutex> Guard(Telling);
      Context.Progress.step("compiling variants", Made += Pieces[I].size(), All);
    });
  }
  std::vector<CompiledSetting> Results;
  for (auto [R, Asked, Its] : llvm::zip_equal(Requests, Codes, Ready))
    Results.push_back(joined(R, Asked, Its));
  return Results;
}
