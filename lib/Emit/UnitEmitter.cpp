#include "Emit/UnitEmitter.h"

#include "Emit/DecisionChoice.h"
#include "Nvcc/EmbeddedPtx.h"
#include "Ptx/Assembler.h"
#include "Ptx/PtxModule.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Log.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

using namespace carve;

namespace {

/// One image while it is being made.
struct TunedImage {
  DeviceImage Image;
  bool Added = false; ///< The unit has PTX but no image for this architecture.
  ImageOrigin origin() const { return Added ? ImageOrigin::FromPtx : ImageOrigin::Compiled; }
  Cubin Original;
  llvm::StringMap<unsigned> Caps;
  llvm::StringMap<std::string> TimedCode; ///< CodeDigest by kernel, where a decision has one.
  std::string NewCubin;                   ///< Path; empty where nothing changed.
};

class Emitter {
public:
  Emitter(const DeviceUnit &U, llvm::ArrayRef<const Profile *> Profiles, const EmitContext &Context,
          llvm::StringRef WorkDir)
      : U(U), Profiles(Profiles), Context(Context), WorkDir(WorkDir.str()) {}

  llvm::Expected<EmittedUnit> emit();

private:
  std::vector<TunedImage> imagesToTune() const;
  std::optional<std::string> refusal(const PtxEntry &Entry, const Decision &D) const;
  llvm::Expected<DecisionChoice> choose(const PtxModule &Ptx, const PtxEntry &Entry,
                                        const TunedImage &I) const;
  std::optional<std::string> refusalOfCode(const CubinKernel &New, const KernelResources *Default,
                                           const PtxEntry &Entry, TunedImage &I) const;
  llvm::Error takeDecisions(const PtxModule &Ptx, TunedImage &I);
  void logForeign(llvm::ArrayRef<TunedImage> Images) const;
  llvm::Expected<Cubin> originalOf(const PtxModule &Ptx, const TunedImage &I) const;
  llvm::Error makeCubin(const PtxModule &Ptx, TunedImage &I);
  llvm::Expected<bool> acceptable(const PtxModule &Ptx, const Assembled &A, TunedImage &I);
  llvm::Expected<std::string> buildContainer(llvm::ArrayRef<TunedImage> Images) const;
  void leave(llvm::StringRef Kernel, llvm::StringRef Arch, std::string Reason) {
    logLine("default kept for " + Kernel + " on " + Arch + ": " + Reason);
    Result.Kernels.push_back({Kernel.str(), Arch.str(), std::nullopt, std::move(Reason)});
  }

  const DeviceUnit &U;
  llvm::ArrayRef<const Profile *> Profiles;
  const EmitContext &Context;
  std::string WorkDir;
  llvm::StringSet<> Names; ///< Of the unit's kernels, mangled and as profiles write them.
  EmittedUnit Result;
};

/// The unit's images, and those that may be added for architectures that only decisions name. A pin
/// adds none: it says how a kernel is to be compiled, and not what for.
std::vector<TunedImage> Emitter::imagesToTune() const {
  std::vector<TunedImage> Images;
  for (const DeviceImage &I : U.Images)
    Images.push_back({I, false, {}, {}, {}, ""});
  for (const Profile *P : Profiles)
    for (const Decision &D : P->Kernels) {
      if (D.Variant.isDefault() || !D.Digest || D.Arch.empty() ||
          llvm::any_of(Images, [&](const TunedImage &I) { return I.Image.Arch == D.Arch; }))
        continue;
      // What the driver would compile for that device: the newest PTX that is not too new, unless
      // an image of the same generation is there, which the driver would run.
      unsigned Wanted = architectureNumber(D.Arch);
      const PlannedPtx *Best = nullptr;
      std::vector<PlannedPtx> Embedded = embeddedPtx(U);
      for (const PlannedPtx &Ptx : Embedded)
        if (Ptx.Compute <= Wanted && (!Best || Ptx.Compute > Best->Compute))
          Best = &Ptx;
      bool Runs = llvm::any_of(U.Images, [&](const DeviceImage &I) {
        unsigned Sm = architectureNumber(I.Arch);
        return Sm / 10 == Wanted / 10 && Sm <= Wanted;
      });
      if (!Best || Runs)
        continue;
      DeviceImage New{D.Arch, Best->Path, "", withArchitecture(sharedPtxasOptions(U), D.Arch)};
      Images.push_back({std::move(New), true, {}, {}, {}, ""});
    }
  return Images;
}

/// Why \p D is not to be applied, as far as that can be said before assembling.
std::optional<std::string> Emitter::refusal(const PtxEntry &Entry, const Decision &D) const {
  if (auto Reason = reasonNotTunable(Entry, Context.Relocatable))
    return Reason;
  if (Context.Ceiling && *D.Variant.Cap > *Context.Ceiling)
    return "cap " + std::to_string(*D.Variant.Cap) +
           " is above the command's own -maxrregcount=" + std::to_string(*Context.Ceiling);
  return std::nullopt;
}

/// What the profiles say of \p Entry.
llvm::Expected<DecisionChoice> Emitter::choose(const PtxModule &Ptx, const PtxEntry &Entry,
                                               const TunedImage &I) const {
  std::string Name = profileName(Entry.Name);
  if (llvm::all_of(Profiles, [&](const Profile *P) {
        return P->candidates(Name, Entry.Name, I.Image.Arch).empty();
      }))
    return DecisionChoice();
  llvm::Expected<std::string> Digest = Ptx.kernelDigest(Entry.Name);
  if (!Digest)
    return Digest.takeError();
  KernelState Now{*Digest, I.Image.Arch, Context.NvccVersion, I.Image.PtxasOptions, I.origin()};
  return chooseDecision(Profiles, Name, Entry.Name, Now);
}

/// Takes the caps of the decisions that hold. An image is added only where one was timed in an
/// image that was made of the PTX likewise: for a decision of another build this unit is not
/// compiled for that architecture, and nobody knows what the image would do.
llvm::Error Emitter::takeDecisions(const PtxModule &Ptx, TunedImage &I) {
  std::vector<std::pair<const PtxEntry *, DecisionChoice>> Choices;
  for (const PtxEntry &Entry : Ptx.entries()) {
    llvm::Expected<DecisionChoice> Choice = choose(Ptx, Entry, I);
    if (!Choice)
      return Choice.takeError();
    Choices.emplace_back(&Entry, std::move(*Choice));
  }
  if (I.Added && llvm::none_of(Choices, [](const auto &C) {
        return C.second.Chosen && C.second.Chosen->Digest && !C.second.Chosen->Variant.isDefault();
      }))
    return llvm::Error::success();
  for (const auto &[Entry, Choice] : Choices) {
    for (const IgnoredDecision &Ignored : Choice.Ignored)
      logLine(ignoredText(Ignored));
    if (!Choice.Chosen && !Choice.Ignored.empty())
      leave(Entry->Name, I.Image.Arch, Choice.Ignored.front().Reason);
    const Decision *D = Choice.Chosen;
    if (!D || D->Variant.isDefault())
      continue;
    if (auto Reason = refusal(*Entry, *D)) {
      leave(Entry->Name, I.Image.Arch, *Reason);
      continue;
    }
    I.Caps[Entry->Name] = *D->Variant.Cap;
    if (D->Basis && !D->Basis->CodeDigest.empty())
      I.TimedCode[Entry->Name] = D->Basis->CodeDigest;
  }
  return llvm::Error::success();
}

/// The entries of the profiles that concern nothing here, for a person who wonders.
void Emitter::logForeign(llvm::ArrayRef<TunedImage> Images) const {
  if (!logging())
    return;
  std::vector<std::string> Archs;
  for (const TunedImage &I : Images)
    if (!I.Added || !I.NewCubin.empty())
      Archs.push_back(I.Image.Arch);
  for (const IgnoredDecision &I : foreignDecisions(Profiles, Names, Archs))
    logLine(ignoredText(I));
}

/// Why the code that a cap gave may not be emitted.
std::optional<std::string> Emitter::refusalOfCode(const CubinKernel &New,
                                                  const KernelResources *Default,
                                                  const PtxEntry &Entry, TunedImage &I) const {
  auto Timed = I.TimedCode.find(Entry.Name);
  if (Timed != I.TimedCode.end() && Timed->second != New.CodeDigest)
    return std::string("the code would not be the code that was timed");
  if (Context.Domain != LaunchDomain::Preserve || !Default)
    return std::nullopt;
  llvm::Expected<DeviceModel> Model = loadDeviceModel(Context.DevicesDir, I.Image.Arch);
  if (!Model)
    return llvm::toString(Model.takeError());
  unsigned Needed = std::min(Entry.Directives.maxThreadsPerBlock(),
                             maxThreadsForRegisters(*Model, Default->RegsPerThread));
  unsigned Left = maxThreadsForRegisters(*Model, New.Resources.RegsPerThread);
  if (Left < Needed)
    return "its " + std::to_string(New.Resources.RegsPerThread) +
           " registers would shrink the largest block from " + std::to_string(Needed) + " to " +
           std::to_string(Left) + " threads";
  return std::nullopt;
}

/// Checks assembled code against the promises. Removes the caps that may not stand and returns
/// false then, so that the image is assembled again without them.
llvm::Expected<bool> Emitter::acceptable(const PtxModule &Ptx, const Assembled &A, TunedImage &I) {
  llvm::Expected<Cubin> New = parseCubin(A.CubinBytes);
  if (!New)
    return New.takeError();
  llvm::StringMap<const CubinKernel *> Old;
  for (const CubinKernel &K : I.Original.Kernels)
    Old[K.Resources.Name] = &K;
  bool Sound = true;
  for (const CubinKernel &K : New->Kernels) {
    auto Before = Old.find(K.Resources.Name);
    const CubinKernel *Default = Before == Old.end() ? nullptr : Before->second;
    if (!I.Caps.count(K.Resources.Name)) {
      if (Default && Default->CodeDigest != K.CodeDigest)
        return unsupported("neighbour-changed",
                           K.Resources.Name + " has no decision, yet its code would change");
      continue;
    }
    const PtxEntry *Entry = Ptx.find(K.Resources.Name);
    if (auto Reason = refusalOfCode(K, Default ? &Default->Resources : nullptr, *Entry, I)) {
      leave(K.Resources.Name, I.Image.Arch, *Reason);
      I.Caps.erase(K.Resources.Name);
      Sound = false;
    }
  }
  return Sound;
}

/// The image without decisions: nvcc's own, or for an added one what ptxas makes of the PTX.
llvm::Expected<Cubin> Emitter::originalOf(const PtxModule &Ptx, const TunedImage &I) const {
  if (!I.Added) {
    llvm::Expected<std::string> Bytes = readFile(I.Image.CubinPath);
    return Bytes ? parseCubin(*Bytes) : Bytes.takeError();
  }
  llvm::Expected<Assembled> A =
      assemble(Context.T, Context.Runner, Ptx.text(), I.Image.PtxasOptions,
               llvm::sys::path::filename(I.Image.PtxPath));
  return A ? parseCubin(A->CubinBytes) : A.takeError();
}

llvm::Error Emitter::makeCubin(const PtxModule &Ptx, TunedImage &I) {
  while (!I.Caps.empty()) {
    llvm::Expected<std::string> Text = Ptx.withRegisterCaps(I.Caps);
    if (!Text)
      return Text.takeError();
    llvm::Expected<Assembled> A = assemble(Context.T, Context.Runner, *Text, I.Image.PtxasOptions,
                                           llvm::sys::path::filename(I.Image.PtxPath));
    if (!A)
      return A.takeError();
    llvm::Expected<bool> Sound = acceptable(Ptx, *A, I);
    if (!Sound)
      return Sound.takeError();
    if (!*Sound)
      continue;
    I.NewCubin = WorkDir + "/tuned." + I.Image.Arch + ".cubin";
    for (const auto &Cap : I.Caps)
      Result.Kernels.push_back({Cap.first().str(), I.Image.Arch, Cap.second, ""});
    return writeFileAtomically(I.NewCubin, A->CubinBytes);
  }
  return llvm::Error::success();
}

llvm::Expected<std::string> Emitter::buildContainer(llvm::ArrayRef<TunedImage> Images) const {
  Command C;
  C.Argv = {Context.T.tool("fatbinary")};
  for (const std::string &Argument : U.FatbinaryArguments) {
    if (llvm::StringRef(Argument).starts_with("--create="))
      continue; // nvcc's own container stays what it is.
    std::string New = Argument;
    for (const TunedImage &I : Images) {
      llvm::StringRef View = Argument;
      if (!I.NewCubin.empty() && !I.Added && View.ends_with("file=" + I.Image.CubinPath))
        New = View.drop_back(I.Image.CubinPath.size()).str() + I.NewCubin;
      // An added image stands before the PTX, as nvcc orders them.
      if (!I.NewCubin.empty() && I.Added && View.contains("kind=ptx") &&
          View.ends_with("file=" + I.Image.PtxPath))
        C.Argv.push_back("--image3=kind=elf,sm=" + I.Image.Arch.substr(3) + ",file=" + I.NewCubin);
    }
    C.Argv.push_back(std::move(New));
  }
  std::string Path = WorkDir + "/tuned.fatbin";
  C.Argv.push_back("--create=" + Path);
  llvm::Expected<CommandResult> Done = runChecked(Context.Runner, C);
  if (!Done)
    return Done.takeError();
  return readFile(Path);
}

llvm::Expected<EmittedUnit> Emitter::emit() {
  std::vector<TunedImage> Images = imagesToTune();
  for (TunedImage &I : Images) {
    llvm::Expected<std::string> Text = readFile(I.Image.PtxPath);
    if (!Text)
      return Text.takeError();
    llvm::Expected<PtxModule> Ptx = PtxModule::parse(std::move(*Text));
    if (!Ptx)
      return Ptx.takeError();
    for (const PtxEntry &Entry : Ptx->entries()) {
      Names.insert(Entry.Name);
      Names.insert(profileName(Entry.Name));
    }
    if (llvm::Error E = takeDecisions(*Ptx, I))
      return E;
    if (I.Caps.empty())
      continue;
    llvm::Expected<Cubin> Original = originalOf(*Ptx, I);
    if (!Original)
      return Original.takeError();
    I.Original = std::move(*Original);
    if (llvm::Error E = makeCubin(*Ptx, I))
      return E;
  }
  logForeign(Images);
  if (llvm::any_of(Images, [](const TunedImage &I) { return !I.NewCubin.empty(); })) {
    llvm::Expected<std::string> Container = buildContainer(Images);
    if (!Container)
      return Container.takeError();
    Result.Container = std::move(*Container);
  }
  return std::move(Result);
}

} // namespace

llvm::Expected<EmittedUnit> carve::emitUnit(const DeviceUnit &U,
                                            llvm::ArrayRef<const Profile *> Profiles,
                                            const EmitContext &Context, llvm::StringRef WorkDir) {
  return Emitter(U, Profiles, Context, WorkDir).emit();
}
