#include "Store/FlavourPtx.h"

#include "Nvcc/FrontEnd.h"
#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/Log.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace carve;

const UnitFrontEnd *carve::frontEndOf(const Unit &U, llvm::StringRef PtxDigest) {
  auto Found =
      llvm::find_if(U.FrontEnds, [&](const UnitFrontEnd &F) { return F.PtxDigest == PtxDigest; });
  return Found == U.FrontEnds.end() ? nullptr : &*Found;
}

/// Returns what \p Known says as a text of its own.
static std::string knownText(const KnownKernel &Known) {
  std::string Text = Known.Kernel;
  for (const ArgumentValue &V : Known.Launch.Values)
    Text += " " + std::to_string(V.Parameter) + (V.Offset ? "+" + std::to_string(V.Offset) : "") +
            ":" + std::to_string(V.Bytes) + "=" + std::to_string(V.Bits);
  for (const auto &Dimensions : {Known.Launch.Block, Known.Launch.Grid}) {
    Text += " ,";
    for (size_t I = 0; Dimensions && I < 3; ++I)
      Text += " " + std::to_string((*Dimensions)[I]);
  }
  // Another release may write them in another way.
  constexpr llvm::StringLiteral WayOfValues = " assume 2", WayOfRestrict = " restrict 1";
  if (!Known.Launch.empty())
    Text += WayOfValues;
  if (!Known.Restrict.empty())
    Text += WayOfRestrict;
  for (unsigned Parameter : Known.Restrict)
    Text += " " + std::to_string(Parameter);
  return Text;
}

/// Returns a key made of everything that the text of a flavour depends on. The digest of the
/// original PTX represents the toolkit.
static std::string flavourKey(const UnitFrontEnd &F, llvm::StringRef Directory,
                              const FrontEndSetting &Setting) {
  std::string Name = nameOf(Setting);
  std::vector<llvm::StringRef> Fields = {F.PtxDigest, F.InputDigest, F.ModuleId, Directory, Name};
  // Another release may write a knob in another way.
  for (llvm::StringRef Argument : ciccArguments(Setting.Knob))
    Fields.push_back(Argument);
  for (const std::string &Argument : F.Step.Arguments)
    Fields.push_back(Argument);
  std::string Known = Setting.Known ? knownText(*Setting.Known) : std::string();
  if (!Known.empty())
    Fields.push_back(Known);
  return digestOfFields(Fields);
}

llvm::Expected<std::string> carve::flavourPtx(const Unit &U, llvm::StringRef PtxDigest,
                                              const FrontEndSetting &Setting, UnitStore &Store,
                                              const Toolchain &T, CommandRunner &Runner) {
  const UnitFrontEnd *F = frontEndOf(U, PtxDigest);
  if (!F)
    return unsupported("no-front-end", "how the PTX of " + U.Output + " was made is not known");
  if (llvm::Error E = checkFrontEndCap(F->Step, U.RegisterCap, Setting.Cap))
    return E;
  // The directory may be gone, as after a capture on another machine. Line tables then name other
  // places.
  llvm::StringRef Directory = U.Directory;
  if (!llvm::sys::fs::is_directory(Directory))
    Directory = "";
  std::string Key = flavourKey(*F, Directory, Setting);
  llvm::Expected<std::optional<std::string>> Known = Store.flavour(Key);
  if (!Known)
    llvm::consumeError(Known.takeError()); // The entry is damaged, so the PTX is made again.
  else if (*Known)
    return std::move(**Known);
  llvm::Expected<std::string> Input = Store.blob(F->InputDigest);
  if (!Input)
    return Input.takeError();
  llvm::Expected<std::string> Original = Store.blob(PtxDigest);
  if (!Original)
    return Original.takeError();
  llvm::Expected<std::string> Ptx =
      compileFlavour({F->Step, *Input, F->ModuleId, *Original, Directory, Setting}, T, Runner);
  if (Ptx)
    if (llvm::Error E = Store.putFlavour(Key, *Ptx))
      logLine(llvm::toString(std::move(E)));
  return Ptx;
}
