#include "Compile/Flavours.h"

#include "Nvcc/FrontEnd.h"
#include "Store/FlavourPtx.h"
#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/Files.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;

/// Makes the flavour from the files that nvcc kept.
static llvm::Expected<std::string> fromKeptFiles(const FrontEndStep &Step, llvm::StringRef Original,
                                                 const Unit &U, const FrontEndSetting &Setting,
                                                 const Toolchain &T, CommandRunner &Runner) {
  if (llvm::Error E = checkFrontEndCap(Step, U.RegisterCap, Setting.Cap))
    return E;
  llvm::Expected<std::string> Input = readFile(Step.KeepDir + "/" + Step.InputName);
  if (!Input)
    return Input.takeError();
  std::string ModuleId;
  if (!Step.ModuleIdName.empty()) {
    llvm::Expected<std::string> Text = readFile(Step.KeepDir + "/" + Step.ModuleIdName);
    if (!Text)
      return Text.takeError();
    ModuleId = std::move(*Text);
  }
  return compileFlavour({Step, *Input, ModuleId, Original, U.Directory, Setting}, T, Runner);
}

static llvm::Expected<std::string> flavourOf(const CompiledUnit &U, const std::string &PtxPath,
                                             const FrontEndSetting &Setting, UnitStore &Store,
                                             const Toolchain &T, CommandRunner &Runner) {
  llvm::Expected<std::string> Original = readFile(PtxPath);
  if (!Original)
    return Original.takeError();
  std::string Digest = digestOf(*Original);
  if (!frontEndOf(U.Record, Digest))
    for (const FrontEndStep &Step : U.Planned.FrontEnds)
      if (Step.ptxPath() == PtxPath)
        return fromKeptFiles(Step, *Original, U.Record, Setting, T, Runner);
  return flavourPtx(U.Record, Digest, Setting, Store, T, Runner);
}

/// Returns true if the PTX \p PtxPath of an image belongs to \p U.
static bool hasPtx(const DeviceUnit &U, const std::string &PtxPath) {
  // An image may be added for embedded PTX, so the images alone do not suffice.
  return llvm::any_of(U.Images, [&](const DeviceImage &I) { return I.PtxPath == PtxPath; }) ||
         llvm::any_of(U.FatbinaryArguments, [&](llvm::StringRef Argument) {
           return Argument.ends_with(",file=" + PtxPath);
         });
}

std::function<llvm::Expected<std::string>(const DeviceImage &, const FrontEndSetting &)>
carve::flavoursOf(const std::vector<CompiledUnit> &Units, UnitStore &Store, const Toolchain &T,
                  CommandRunner &Runner, bool &Missing) {
  return [&](const DeviceImage &I, const FrontEndSetting &Setting) -> llvm::Expected<std::string> {
    for (const CompiledUnit &U : Units) {
      if (!hasPtx(U.Planned, I.PtxPath))
        continue;
      llvm::Expected<std::string> Ptx = flavourOf(U, I.PtxPath, Setting, Store, T, Runner);
      Missing |= !Ptx;
      return Ptx;
    }
    Missing = true;
    return unsupported("no-front-end", I.PtxPath + " belongs to no unit of the command");
  };
}
