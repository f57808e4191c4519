#include "Compile/UnitRecorder.h"
#include "Cubin/Cubin.h"
#include "Nvcc/EmbeddedPtx.h"
#include "Nvcc/StepOptions.h"
#include "Store/DecisionFiles.h"
#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Log.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

using namespace carve;

namespace {

/// Puts files into the store, each once.
class BlobWriter {
public:
  explicit BlobWriter(UnitStore &Store) : Store(Store) {}
  llvm::Expected<std::string> put(const std::string &Path) {
    if (auto Known = Digests.find(Path); Known != Digests.end())
      return Known->second;
    llvm::Expected<std::string> Bytes = readFile(Path);
    if (!Bytes)
      return Bytes.takeError();
    llvm::Expected<std::string> Digest = Store.putBlob(*Bytes);
    if (Digest)
      Digests[Path] = *Digest;
    return Digest;
  }

  llvm::Expected<std::string> putBytes(llvm::StringRef Bytes) { return Store.putBlob(Bytes); }

private:
  UnitStore &Store;
  llvm::StringMap<std::string> Digests;
};

llvm::Expected<UnitImage> recordImage(const DeviceImage &Planned, BlobWriter &Blobs) {
  UnitImage I;
  I.Arch = Planned.Arch;
  I.PtxasOptions = Planned.PtxasOptions;
  I.PtxName = llvm::sys::path::filename(Planned.PtxPath).str();
  I.CubinName = llvm::sys::path::filename(Planned.CubinPath).str();
  llvm::Expected<std::string> Ptx = Blobs.put(Planned.PtxPath);
  if (!Ptx)
    return Ptx.takeError();
  I.PtxDigest = *Ptx;
  llvm::Expected<std::string> Bytes = readFile(Planned.CubinPath);
  llvm::Expected<std::string> CubinDigest = Bytes ? Blobs.putBytes(*Bytes) : Bytes.takeError();
  if (!CubinDigest)
    return CubinDigest.takeError();
  I.CubinDigest = *CubinDigest;
  llvm::Expected<Cubin> Image = parseCubin(*Bytes);
  if (!Image)
    return Image.takeError();
  for (const CubinKernel &K : Image->Kernels)
    I.Kernels.push_back(K.Resources);
  return I;
}

/// Returns how \p Step made its PTX; nothing if that has no kernel.
llvm::Expected<std::optional<UnitFrontEnd>> recordFrontEnd(const FrontEndStep &Step,
                                                           BlobWriter &Blobs) {
  if (auto At = refusedFrontEndArgument(Step))
    return unsupported("recorded-options", "cicc has the argument '" + Step.Arguments[*At] +
                                               "', which a record must not pass on");
  llvm::Expected<std::string> Ptx = readFile(Step.ptxPath());
  if (!Ptx)
    return Ptx.takeError();
  if (!llvm::StringRef(*Ptx).contains(".entry"))
    return std::nullopt;
  UnitFrontEnd F;
  F.PtxDigest = digestOf(*Ptx);
  F.Step = Step;
  if (!Step.ModuleIdName.empty()) {
    llvm::Expected<std::string> ModuleId = readFile(Step.KeepDir + "/" + Step.ModuleIdName);
    if (!ModuleId)
      return ModuleId.takeError();
    F.ModuleId = std::move(*ModuleId);
  }
  llvm::Expected<std::string> Input = Blobs.put(Step.KeepDir + "/" + Step.InputName);
  if (!Input)
    return Input.takeError();
  F.InputDigest = *Input;
  return F;
}

/// Returns the front-end steps of the unit. Without them it can still be tuned, except for the caps
/// of the front end.
std::vector<UnitFrontEnd> recordFrontEnds(const DeviceUnit &Planned, BlobWriter &Blobs) {
  std::vector<UnitFrontEnd> All;
  for (const FrontEndStep &Step : Planned.FrontEnds) {
    llvm::Expected<std::optional<UnitFrontEnd>> F = recordFrontEnd(Step, Blobs);
    if (!F)
      logLine("front end not recorded: " + llvm::toString(F.takeError()));
    else if (*F)
      All.push_back(std::move(**F));
  }
  return All;
}

} // namespace

std::string carve::unitKeyOf(const CommandLine &C, llvm::StringRef Source,
                             llvm::StringRef WorkDir) {
  return unitKey(projectRoot(WorkDir), WorkDir, Source, C.outputOf(Source));
}

llvm::Expected<Unit> carve::recordUnit(const DeviceUnit &Planned, const CommandLine &C,
                                       const Toolchain &T, llvm::StringRef NvccVersion,
                                       llvm::StringRef WorkDir, UnitStore &Store) {
  Unit U;
  U.Project = projectRoot(WorkDir);
  U.Source = Planned.Source;
  U.Output = C.outputOf(U.Source);
  U.Directory = WorkDir.str();
  U.Key = unitKeyOf(C, U.Source, WorkDir);
  U.Command = C.Argv;
  U.Nvcc = T.Nvcc;
  U.NvccVersion = NvccVersion.str();
  U.Relocatable = C.Relocatable;
  U.RegisterCap = C.RegisterCap;
  llvm::Expected<std::string> Container = readFile(Planned.FatbinPath);
  if (!Container)
    return Container.takeError();
  U.Containers = {digestOf(*Container)};
  BlobWriter Blobs(Store);
  for (const DeviceImage &I : Planned.Images) {
    llvm::Expected<UnitImage> Image = recordImage(I, Blobs);
    if (!Image)
      return Image.takeError();
    U.Images.push_back(std::move(*Image));
  }
  for (const PlannedPtx &P : embeddedPtx(Planned)) {
    llvm::Expected<std::string> Digest = Blobs.put(P.Path);
    if (!Digest)
      return Digest.takeError();
    U.Ptx.push_back(
        {P.Compute, *Digest, llvm::sys::path::filename(P.Path).str(), sharedPtxasOptions(Planned)});
  }
  U.FrontEnds = recordFrontEnds(Planned, Blobs);
  return U;
}

void carve::copyDecisions(const CommandLine &C, llvm::StringRef WorkDir, const UnitStore &From,
                          UnitStore &To) {
  for (const Input &I : C.Inputs) {
    if (I.Kind != InputKind::DeviceSource)
      continue;
    std::string Key = unitKeyOf(C, I.Path, WorkDir);
    llvm::Expected<std::optional<std::string>> Text = readDecisions(From, Key);
    if (!Text)
      logLine(llvm::toString(Text.takeError()));
    else if (*Text)
      if (llvm::Error E = writeDecisions(To, Key, **Text))
        logLine(llvm::toString(std::move(E)));
  }
}
