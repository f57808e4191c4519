// ptxas compiles only the entries that `--entry` names, and gives them the same code as in the
// whole module. With -c, ptxas ignores `--entry` and compiles all entries. It reads all of its text
// in any case, so it is given no other entries.

#include "Tune/Variants/VariantCompiler.h"
#include "Cubin/Assembler.h"
#include "Cubin/Cubin.h"
#include "Metrics/Counts/CodeCounts.h"
#include "Metrics/Counts/PtxCounts.h"
#include "Search/VariantEdit.h"
#include "Support/Clock.h"
#include "Support/Error.h"
#include "Support/Log.h"
#include "Support/Parallel.h"
#include "Tune/Variants/KnobSpaces.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Threading.h"

#include <algorithm>
#include <mutex>

using namespace carve;

void VariantCompiler::prepareMarked() {
  std::set<FlavourModules::Key> Wanted;
  for (size_t K = 0; K < Built.Kernels.size(); ++K)
    for (const JobVariant &V : Built.Kernels[K].Variants)
      for (const SettingCode &C : codesOf(K, V))
        for (size_t M : Job.Kernels[K].Modules)
          if (V.InModule && !C.Setting.frontEnd().isDefault())
            Wanted.insert({M, flavourOf(Job, C)});
  Flavours.prepare(Wanted);
}

/// The block size, in threads, with which \p C spills to shared memory: what its guard needs. If
/// the guard names no block, it is the largest that the kernel \p Entry accepts, in any launch
/// domain, because larger blocks than those that were traced may come through. DecisionEdits takes
/// the same.
unsigned VariantCompiler::smemSpillingThreads(const SettingCode &C, const PtxEntry &Entry) const {
  if (C.Known.Block)
    return guardFor(C.Known).mostThreads();
  if (C.Known.empty())
    return Built.Kernels[C.Kernel].SmemSpillingThreads;
  return smemSpillingMaxThreads(Job.Model, Entry.Directives,
                                Job.Kernels[C.Kernel].Region.Default.RegsPerThread);
}

/// The clone \p Name in \p Module that is \p C.
llvm::Expected<CloneRequest> VariantCompiler::clone(size_t Module, const SettingCode &C,
                                                    std::string Name) const {
  const JobKernel &K = Job.Kernels[C.Kernel];
  CloneRequest Clone{K.Traced.Kernel, std::move(Name), {}};
  const PtxEntry &Entry = *Sources.of(Module).Ptx.find(K.Traced.Kernel);
  llvm::Expected<EntryEdit> Edit = entryEdit(
      C.Setting, Entry, smemSpillingThreads(C, Entry),
      [&](const FrontEndSetting &) { return Flavours.find(Module, flavourOf(Job, C)); },
      Sources.of(Module).Source.RegisterCap, C.Known);
  if (!Edit)
    return Edit.takeError();
  Clone.Edit = *Edit;
  return Clone;
}

llvm::Expected<std::vector<AssembledClone>>
VariantCompiler::clones(size_t Module, size_t Kernel, const JobVariant &Variant) const {
  std::vector<SettingCode> Codes = codesOf(Kernel, Variant);
  std::vector<AssembledClone> Clones;
  for (size_t I = 0; I < Codes.size(); ++I) {
    llvm::Expected<CloneRequest> Clone = clone(
        Module, Codes[I], Variant.Codes.empty() ? Variant.CloneName : Variant.Codes[I].CloneName);
    if (!Clone)
      return Clone.takeError();
    Clones.push_back({std::move(*Clone), Codes[I].Setting.assembler()});
  }
  return Clones;
}

/// \p C as compile() has made it, under the name \p Name.
llvm::Expected<CompiledClone> VariantCompiler::compiledClone(size_t Module, const SettingCode &C,
                                                             std::string Name) const {
  if (Job.Kernels[C.Kernel].Modules.front() != Module)
    return unsupported("other-module", "its clones were compiled in another module");
  auto Made = Done.find(withoutEmptyFlavour(C));
  if (Made == Done.end() || !Made->second.Image)
    return unsupported("not-compiled", "no image of " + Name + " was kept");
  const CompiledSetting &Own = Made->second;
  CompiledClone Clone{{*Own.Image, Own.NameInImage, Name}, Own.Resources, Own.CodeDigest};
  Clone.Resources.Name = std::move(Name);
  return Clone;
}

llvm::Expected<std::vector<CompiledClone>>
VariantCompiler::compiledClones(size_t Module, size_t Kernel, const JobVariant &Variant) const {
  std::vector<CompiledClone> Clones;
  for (const auto &[I, Wanted] : llvm::enumerate(codesOf(Kernel, Variant))) {
    llvm::Expected<CompiledClone> Clone = compiledClone(
        Module, Wanted, Variant.Codes.empty() ? Variant.CloneName : Variant.Codes[I].CloneName);
    if (!Clone)
      return Clone.takeError();
    Clones.push_back(std::move(*Clone));
  }
  return Clones;
}

llvm::Expected<std::vector<CompiledClone>>
VariantCompiler::compiledClones(size_t Module, const SettingRequest &R) const {
  JobVariant V{R.Setting, cloneName(Job.Kernels[R.Kernel].Traced.Kernel, R.Setting), {}, "", ""};
  V.Codes = guardedCodesOf(Job, R);
  return compiledClones(Module, R.Kernel, V);
}

/// \p C without its front-end cap and knob if they do not change the kernel's PTX.
SettingCode VariantCompiler::withoutEmptyFlavour(SettingCode C) const {
  if (C.Setting.frontEnd().isDefault())
    return C;
  const JobKernel &K = Job.Kernels[C.Kernel];
  llvm::Expected<const PtxModule *> Flavour = Flavours.find(K.Modules.front(), flavourOf(Job, C));
  llvm::Expected<std::string> Digest =
      Flavour ? (*Flavour)->kernelDigest(K.Traced.Kernel) : Flavour.takeError();
  if (!Digest) {
    llvm::consumeError(Digest.takeError()); // clone() fails with the same error.
    return C;
  }
  if (*Digest != K.KernelDigest)
    return C;
  // Without what is known, the block size for spilling may be another one.
  if (C.Setting.SmemSpilling && !C.Known.empty() && !C.Known.Block)
    return C;
  C.Setting.setFrontEnd({});
  return codeFor(C.Kernel, C.Setting, std::move(C.Known));
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
std::optional<KernelCounts>
VariantCompiler::countsOf(const SettingCode &C, llvm::StringRef CubinBytes, llvm::StringRef Name,
                          std::map<SettingCode, CountedKernel> &OfPtx) const {
  const JobKernel &Kernel = Job.Kernels[C.Kernel];
  SettingCode Flavour{C.Kernel, {}, C.Known};
  Flavour.Setting.setFrontEnd(C.Setting.frontEnd());
  auto [Known, New] = OfPtx.try_emplace(Flavour);
  if (New) {
    const PtxModule *Ptx = &Sources.of(Kernel.Modules.front()).Ptx;
    if (!Flavour.Setting.isDefault())
      Ptx = llvm::cantFail(Flavours.find(Kernel.Modules.front(), flavourOf(Job, Flavour)));
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

/// The seconds after which ptxas is ended for \p Piece (compile()); 0 if there is no limit, which
/// may change while the defaults of its kernels are compiled.
double VariantCompiler::limitS(llvm::ArrayRef<Pending> Piece, std::optional<double> MostS) const {
  if (!MostS)
    return 0;
  constexpr double DefaultRuns = 4;
  double ExpectedS = 0;
  for (const auto &[C, Result] : Piece) {
    double Seconds = DefaultS.at(C.Kernel);
    if (Seconds <= 0)
      return 0;
    ExpectedS += Seconds;
  }
  return std::max(*MostS, DefaultRuns * ExpectedS);
}

double VariantCompiler::secondsOfDefault(size_t Kernel) const {
  auto Known = DefaultS.find(Kernel);
  return Known == DefaultS.end() ? 0 : double(Known->second);
}

bool VariantCompiler::isOutOfTime() const { return Context.secondsLeft() == 0.0; }

llvm::Error VariantCompiler::assemblePiece(llvm::ArrayRef<Pending> Piece,
                                           std::optional<double> MostS) {
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
  std::vector<std::string> Options =
      ptxasOptionsFor(Piece.front().first.Setting.assembler(), M.Image.PtxasOptions);
  for (const std::string &Name : Names)
    Options.insert(Options.end(), {"--entry", Name});
  auto LimitS = [&] { return limitS(Piece, MostS); };
  TimeLimitedRunner Limited(Context.Runner, LimitS);
  auto AssembleText = [&](llvm::Expected<std::string> Text) -> llvm::Expected<Assembled> {
    if (!Text)
      return Text.takeError();
    return assemble(Context.T, Limited, *Text, Options, M.Image.PtxName);
  };
  auto Begin = std::chrono::steady_clock::now();
  auto IsOverLimit = [&] { return LimitS() > 0 && secondsSince(Begin) >= LimitS(); };
  llvm::Expected<Assembled> Made = AssembleText(M.Ptx.clonesAlone(Clones, Names));
  // Code or variables may name an entry that was left out.
  if (!Made && !IsOverLimit() && !isOutOfTime()) {
    llvm::consumeError(Made.takeError());
    Begin = std::chrono::steady_clock::now();
    Made = AssembleText(M.Ptx.withClones(Clones));
  }
  if (!Made && IsOverLimit()) {
    llvm::consumeError(Made.takeError());
    return unsupported("slow-assembly",
                       llvm::formatv("ptxas took longer than {0:f1} s", LimitS()).str());
  }
  if (!Made)
    return Made.takeError();
  const double AssemblyS = secondsSince(Begin);
  llvm::Expected<Cubin> Image = parseCubin(Made->CubinBytes);
  if (!Image)
    return Image.takeError();
  llvm::StringMap<const CubinKernel *> Compiled;
  for (const CubinKernel &K : Image->Kernels)
    Compiled[K.Resources.Name] = &K;
  llvm::StringMap<const KernelResources *> Reported;
  for (const KernelResources &R : Made->Kernels)
    Reported[R.Name] = &R;
  std::map<SettingCode, CountedKernel> OfPtx;
  // Images repeat the data of the module.
  constexpr size_t MostKeptBytes = 16 << 20;
  std::shared_ptr<const std::string> Whole;
  if (Made->CubinBytes.size() <= MostKeptBytes)
    Whole = std::make_shared<const std::string>(Made->CubinBytes);
  for (size_t I = 0; I < Piece.size(); ++I) {
    auto C = Compiled.find(Names[I]);
    if (C == Compiled.end())
      return malformed("ptxas left out " + Names[I]);
    CompiledSetting &Result = *Piece[I].second;
    auto R = Reported.find(Names[I]);
    Result.Resources = R == Reported.end() ? C->second->Resources : *R->second;
    Result.CodeDigest = C->second->CodeDigest;
    Result.Image = Whole;
    Result.NameInImage = Names[I];
    if (Piece[I].first.Setting.isDefault())
      DefaultS.at(Piece[I].first.Kernel) = AssemblyS;
    Result.Counts = countsOf(Piece[I].first, Made->CubinBytes, Names[I], OfPtx);
  }
  return llvm::Error::success();
}

std::string carve::firstLine(llvm::Error Failed) {
  return llvm::StringRef(llvm::toString(std::move(Failed))).ltrim().split('\n').first.rtrim().str();
}

void VariantCompiler::compilePiece(llvm::ArrayRef<Pending> Piece, std::optional<double> MostS) {
  llvm::Error Failed = assemblePiece(Piece, MostS);
  if (!Failed)
    return;
  std::string Why = firstLine(std::move(Failed));
  const bool OneByOne = Piece.size() > 1 && !isOutOfTime();
  for (const Pending &P : Piece)
    if (OneByOne)
      compilePiece(P, MostS);
    else
      P.second->Failure = Why.empty() ? "not assembled" : Why;
}

/// The result for \p R, whose codes were compiled as \p Ready. An element of \p Ready is absent if
/// cicc has not made its PTX yet.
CompiledSetting VariantCompiler::joined(const SettingRequest &R,
                                        llvm::ArrayRef<std::optional<SettingCode>> Ready) const {
  CompiledSetting All;
  All.Pending = llvm::any_of(Ready, [](const std::optional<SettingCode> &C) { return !C; });
  if (All.Pending)
    return All;
  for (const std::optional<SettingCode> &C : Ready)
    if (const CompiledSetting &Own = Done.at(*C); !Own.Failure.empty())
      return Own;
  All = Done.at(*Ready.front());
  All.Codes = guardedCodesOf(Job, R);
  for (size_t C = 0; C < All.Codes.size(); ++C) {
    const CompiledSetting &Own = Done.at(*Ready[C]);
    All.Codes[C].Resources = Own.Resources;
    All.Codes[C].CodeDigest = Own.CodeDigest;
  }
  return All;
}

std::vector<CompiledSetting> VariantCompiler::compile(llvm::ArrayRef<SettingRequest> Requests,
                                                      FlavourModules::Until End,
                                                      std::optional<double> MostS) {
  auto FlavourKey = [&](const SettingCode &C) {
    return FlavourModules::Key(Job.Kernels[C.Kernel].Modules.front(), flavourOf(Job, C));
  };
  std::set<FlavourModules::Key> Wanted;
  for (const SettingRequest &R : Requests)
    for (const SettingCode &C : codesOf(Job, R))
      if (!C.Setting.frontEnd().isDefault())
        Wanted.insert(FlavourKey(C));
  Flavours.prepare(Wanted, End);
  std::vector<std::vector<std::optional<SettingCode>>>
      Ready; // By request; nothing for what is pending.
  std::vector<Pending> New;
  for (const SettingRequest &R : Requests) {
    Ready.emplace_back();
    for (const SettingCode &C : codesOf(Job, R)) {
      Ready.back().emplace_back();
      if (!C.Setting.frontEnd().isDefault() && !Flavours.isReady(FlavourKey(C)))
        continue;
      SettingCode Made = withoutEmptyFlavour(C);
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
    for (const Pending &P : New)
      DefaultS.try_emplace(P.first.Kernel, 0);
    runInParallel(Pieces.size(), [&](size_t I) {
      compilePiece(Pieces[I], MostS);
      std::lock_guard<std::mutex> Guard(Telling);
      Context.Progress.step("compiling variants", Made += Pieces[I].size(), All);
    });
  }
  std::vector<CompiledSetting> Results;
  for (auto [R, Its] : llvm::zip_equal(Requests, Ready))
    Results.push_back(joined(R, Its));
  return Results;
}
