#include "Emit/UnitEmitter.h"

#include "Emit/DecisionChoice.h"
#include "Emit/ImageEmitter.h"
#include "Nvcc/EmbeddedPtx.h"
#include "Ptx/ProfileName.h"
#include "Ptx/PtxModule.h"
#include "Support/Files.h"
#include "Support/Log.h"

#include "llvm/ADT/STLExtras.h"

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
  llvm::Error makeCubin(TunedImage &I);
  llvm::Expected<std::string> buildContainer(llvm::ArrayRef<TunedImage> Images) const;

  const DeviceUnit &U;
  llvm::ArrayRef<const Profile *> Profiles;
  const EmitContext &Context;
  std::string WorkDir;
  std::vector<KernelIdentity> Kernels; ///< Kernels of the unit. If several images have a kernel, it
                                       ///< is listed once for each.
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
      if (D.Variant.isDefault() || !D.Digest || D.Arch.empty() ||
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

/// Makes the new image if decisions change it.
llvm::Error Emitter::makeCubin(TunedImage &I) {
  llvm::Expected<std::string> Text = readFile(I.Image.PtxPath);
  if (!Text)
    return Text.takeError();
  llvm::Expected<PtxModule> Ptx = PtxModule::parse(std::move(*Text));
  if (!Ptx)
    return Ptx.takeError();
  for (const PtxEntry &Entry : Ptx->entries())
    Kernels.push_back({profileName(Entry.Name), Entry.Name});
  ImageEmitter One(I.Image, I.origin(), *Ptx, Context);
  llvm::Expected<std::string> Bytes = One.emit(Profiles);
  if (!Bytes)
    return Bytes.takeError();
  for (EmittedKernel &K : One.takeKernels()) {
    if (K.Reason.empty())
      logLine(K.Kernel + " on " + K.Arch + " is emitted as " + variantName(K.Variant));
    Result.Kernels.push_back(std::move(K));
  }
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
  for (TunedImage &I : Images)
    if (llvm::Error E = makeCubin(I))
      return E;
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
