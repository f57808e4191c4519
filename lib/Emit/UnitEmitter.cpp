#include "Emit/UnitEmitter.h"

#include "Emit/DecisionChoice.h"
#include "Emit/ImageEmitter.h"
#include "Nvcc/EmbeddedPtx.h"
#include "Ptx/ProfileName.h"
#include "Ptx/PtxModule.h"
#include "Support/Files.h"
#include "Support/Log.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <utility>

using namespace carve;

namespace {

/// One image of the unit while it is made.
struct TunedImage {
  DeviceImage Image;
  bool Added = false; ///< The unit has PTX but no image for this architecture.
  ImageOrigin origin() const { return Added ? ImageOrigin::FromPtx : ImageOrigin::Compiled; }
  std::string NewCubin; ///< Path; empty if nothing changed.
};

/// Emits one unit. It is used once.
class Emitter {
public:
  Emitter(const DeviceUnit &U, llvm::ArrayRef<const Profile *> Profiles, const EmitContext &Context,
          llvm::StringRef WorkDir)
      : U(U), Profiles(Profiles), Context(Context), WorkDir(WorkDir.str()) {}

  llvm::Expected<EmittedUnit> emit();

private:
  std::vector<TunedImage> imagesToTune() const;
  void logForeign(llvm::ArrayRef<TunedImage> Images) const;
  llvm::Expected<PtxModule> readPtx(const std::string &Path) const;
  llvm::Error findEntries(llvm::ArrayRef<TunedImage> Images);
  llvm::Error makeCubins(std::vector<TunedImage> &Images);
  llvm::Error makeCubin(TunedImage &I);
  llvm::Error makePtx();
  llvm::Expected<std::string> buildContainer(llvm::ArrayRef<TunedImage> Images) const;

  const DeviceUnit &U;
  llvm::ArrayRef<const Profile *> Profiles;
  const EmitContext &Context;
  std::string WorkDir;
  std::vector<KernelIdentity> Kernels; ///< Kernels of the unit. If several images have a kernel, it
                                       ///< is listed once for each.
  std::vector<UnitEntry> Entries;
  std::map<std::string, std::string>
      NewPtx; ///< Embedded PTX with further entries, by the old path.
  EmittedUnit Result;
};

/// Returns the unit's images, and images to add for architectures that only decisions name. A pin
/// adds no image, because it says how to compile a kernel and not for which architecture.
std::vector<TunedImage> Emitter::imagesToTune() const {
  std::vector<TunedImage> Images;
  for (const DeviceImage &I : U.Images)
    Images.push_back({I, false, ""});
  for (const Profile *P : Profiles)
    for (const Decision &D : P->Kernels) {
      if (D.isDefault() || !D.Digest || D.Arch.empty() ||
          llvm::any_of(Images, [&](const TunedImage &I) { return I.Image.Arch == D.Arch; }))
        continue;
      // This is what the driver would compile for that device: the newest PTX that the device
      // supports. If the unit has an image of the same generation, the driver would run that
      // instead.
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
      Images.push_back({std::move(New), true, ""});
    }
  return Images;
}

/// Logs the entries of the profiles that apply to nothing here, for a user who wonders why.
void Emitter::logForeign(llvm::ArrayRef<TunedImage> Images) const {
  if (!logging())
    return;
  std::vector<std::string> Archs;
  for (const TunedImage &I : Images)
    if (!I.Added || !I.NewCubin.empty())
      Archs.push_back(I.Image.Arch);
  for (const IgnoredDecision &I : foreignDecisions(Profiles, Kernels, Archs))
    logLine(ignoredText(I));
}

llvm::Expected<PtxModule> Emitter::readPtx(const std::string &Path) const {
  llvm::Expected<std::string> Text = readFile(Path);
  return Text ? PtxModule::parse(std::move(*Text)) : Text.takeError();
}

/// Finds the further entries for which decisions for any image ask, and names them.
llvm::Error Emitter::findEntries(llvm::ArrayRef<TunedImage> Images) {
  if (Context.Relocatable)
    return llvm::Error::success();
  for (const TunedImage &I : Images) {
    llvm::Expected<PtxModule> Ptx = readPtx(I.Image.PtxPath);
    if (!Ptx)
      return Ptx.takeError();
    auto Wanted = ImageEmitter(I.Image, I.origin(), *Ptx, Context).wantedEntries(Profiles);
    if (!Wanted)
      return Wanted.takeError();
    for (UnitEntry &E : *Wanted)
      if (llvm::none_of(Entries, [&](const UnitEntry &Known) {
            return Known.Kernel == E.Kernel && Known.When == E.When;
          }))
        Entries.push_back(std::move(E));
  }
  // Those of one kernel belong together; which guard is asked first stays.
  llvm::stable_sort(Entries,
                    [](const UnitEntry &A, const UnitEntry &B) { return A.Kernel < B.Kernel; });
  size_t Index = 0;
  for (size_t I = 0; I < Entries.size(); ++I) {
    Index = I && Entries[I - 1].Kernel == Entries[I].Kernel ? Index + 1 : 0;
    Entries[I].Name = furtherEntryName(Entries[I].Kernel, Index);
  }
  return llvm::Error::success();
}

/// Makes the new images, at first with all further entries, then without those that no image could
/// be given.
llvm::Error Emitter::makeCubins(std::vector<TunedImage> &Images) {
  if (llvm::Error E = findEntries(Images))
    return E;
  while (true) {
    Kernels.clear();
    std::vector<EmittedKernel> Told = std::exchange(Result.Kernels, {});
    for (TunedImage &I : Images)
      if (llvm::Error E = makeCubin(I))
        return E;
    // What was refused in an earlier round is still to be told.
    for (EmittedKernel &K : Told)
      if (K.When && !K.Reason.empty())
        Result.Kernels.push_back(std::move(K));
    size_t Before = Entries.size();
    std::erase_if(Entries, [](const UnitEntry &E) { return !E.Applied; });
    if (Entries.size() == Before)
      break;
    for (TunedImage &I : Images)
      I.NewCubin.clear();
  }
  for (const EmittedKernel &K : Result.Kernels)
    if (K.Reason.empty())
      logLine(K.Kernel + " on " + K.Arch + " is emitted as " + variantName(K.Variant) +
              (K.When ? " when " + guardText(*K.When) : std::string()));
  return llvm::Error::success();
}

/// Makes the embedded PTX with the further entries. A device for which the driver compiles it gets
/// the kernels' own code for them.
llvm::Error Emitter::makePtx() {
  if (Entries.empty())
    return llvm::Error::success();
  std::vector<CloneRequest> Clones;
  for (const UnitEntry &E : Entries)
    Clones.push_back({E.Kernel, E.Name});
  for (const PlannedPtx &P : embeddedPtx(U)) {
    if (NewPtx.count(P.Path))
      continue;
    llvm::Expected<PtxModule> Ptx = readPtx(P.Path);
    llvm::Expected<std::string> Text = Ptx ? Ptx->withClones(Clones) : Ptx.takeError();
    if (!Text)
      return Text.takeError();
    std::string Path = WorkDir + "/tuned." + std::to_string(NewPtx.size()) + ".ptx";
    if (llvm::Error E = writeFileAtomically(Path, *Text))
      return E;
    NewPtx[P.Path] = Path;
  }
  return llvm::Error::success();
}

/// Makes the new image if decisions change it.
llvm::Error Emitter::makeCubin(TunedImage &I) {
  llvm::Expected<PtxModule> Ptx = readPtx(I.Image.PtxPath);
  if (!Ptx)
    return Ptx.takeError();
  for (const PtxEntry &Entry : Ptx->entries())
    Kernels.push_back({profileName(Entry.Name), Entry.Name});
  ImageEmitter One(I.Image, I.origin(), *Ptx, Context);
  llvm::Expected<std::string> Bytes = One.emit(Profiles, Entries);
  if (!Bytes)
    return Bytes.takeError();
  llvm::append_range(Result.Kernels, One.takeKernels());
  if (Bytes->empty())
    return llvm::Error::success();
  I.NewCubin = WorkDir + "/tuned." + I.Image.Arch + ".cubin";
  return writeFileAtomically(I.NewCubin, *Bytes);
}

/// Runs nvcc's fatbinary command with the new images in place of the old ones. Returns the
/// container.
llvm::Expected<std::string> Emitter::buildContainer(llvm::ArrayRef<TunedImage> Images) const {
  Command C;
  C.Argv = {Context.T.tool("fatbinary")};
  for (const std::string &Argument : U.FatbinaryArguments) {
    if (llvm::StringRef(Argument).starts_with("--create="))
      continue; // nvcc's own container must stay as it is.
    std::string New = Argument;
    for (const TunedImage &I : Images) {
      llvm::StringRef View = Argument;
      if (!I.NewCubin.empty() && !I.Added && View.ends_with("file=" + I.Image.CubinPath))
        New = View.drop_back(I.Image.CubinPath.size()).str() + I.NewCubin;
      // An added image comes before the PTX, which is the order that nvcc uses.
      if (!I.NewCubin.empty() && I.Added && View.contains("kind=ptx") &&
          View.ends_with("file=" + I.Image.PtxPath))
        C.Argv.push_back("--image3=kind=elf,sm=" + I.Image.Arch.substr(3) + ",file=" + I.NewCubin);
    }
    for (const auto &[Old, Path] : NewPtx)
      if (llvm::StringRef(New).contains("kind=ptx") &&
          llvm::StringRef(New).ends_with("file=" + Old))
        New.replace(New.size() - Old.size(), Old.size(), Path);
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
  if (llvm::Error E = makeCubins(Images))
    return E;
  if (llvm::Error E = makePtx())
    return E;
  logForeign(Images);
  if (llvm::any_of(Images, [](const TunedImage &I) { return !I.NewCubin.empty(); })) {
    llvm::Expected<std::string> Container = buildContainer(Images);
    if (!Container)
      return Container.takeError();
    Result.Container = std::move(*Container);
    for (const UnitEntry &E : Entries)
      Result.Entries.push_back({E.Kernel, E.Name, E.When, E.StaticSmemBytes});
  }
  return std::move(Result);
}

} // namespace

llvm::Expected<EmittedUnit> carve::emitUnit(const DeviceUnit &U,
                                            llvm::ArrayRef<const Profile *> Profiles,
                                            const EmitContext &Context, llvm::StringRef WorkDir) {
  return Emitter(U, Profiles, Context, WorkDir).emit();
}
