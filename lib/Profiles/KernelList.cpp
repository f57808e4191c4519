#include "Profiles/KernelList.h"
#include "Emit/DecisionChoice.h"
#include "Ptx/ProfileName.h"
#include "Ptx/PtxModule.h"
#include "Store/StaleOutputs.h"
#include "Support/Files.h"
#include "Support/Log.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <tuple>

using namespace carve;
namespace json = llvm::json;

namespace {

/// Sets in \p K what is decided for it. \p Digest is the digest of its present code.
void decide(ListedKernel &K, llvm::StringRef Digest, const UnitImage &Image, const Unit &U,
            llvm::ArrayRef<const Profile *> Profiles) {
  KernelState Now{Digest.str(), Image.Arch, U.NvccVersion, Image.PtxasOptions};
  DecisionChoice Choice = chooseDecision(Profiles, K.Names.Name, K.Names.Mangled, Now);
  for (const IgnoredDecision &I : Choice.Ignored)
    K.Ignored.push_back(ignoredText(I));
  K.From = "default";
  if (Choice.Chosen) {
    K.Setting = Choice.Chosen->Variant;
    K.Pinned = !Choice.Chosen->Digest;
  }
  for (const Profile *P : Profiles) {
    bool Chosen = Choice.Chosen &&
                  llvm::any_of(P->Kernels, [&](const Decision &D) { return &D == Choice.Chosen; });
    if (Chosen || (!Choice.Chosen && P->FileCap && K.From == "default"))
      K.From = P->Name;
    if (!Choice.Chosen && P->FileCap && K.From == P->Name)
      K.Setting.Cap = P->FileCap;
  }
}

llvm::Error listImage(ListedUnit &Listed, const UnitImage &Image, const Unit &U,
                      llvm::ArrayRef<const Profile *> Profiles, const UnitStore &Store) {
  llvm::Expected<std::string> Text = Store.blob(Image.PtxDigest);
  llvm::Expected<PtxModule> Ptx = Text ? PtxModule::parse(std::move(*Text)) : Text.takeError();
  if (!Ptx)
    return Ptx.takeError();
  for (const KernelResources &R : Image.Kernels) {
    llvm::Expected<std::string> Digest = Ptx->kernelDigest(R.Name);
    if (!Digest)
      return Digest.takeError();
    ListedKernel K;
    K.Names = {profileName(R.Name), R.Name};
    K.Arch = Image.Arch;
    K.Regs = R.RegsPerThread;
    decide(K, *Digest, Image, U, Profiles);
    Listed.Kernels.push_back(std::move(K));
  }
  return llvm::Error::success();
}

ListedUnit listUnit(const Unit &U, const UnitStore &Store, CurrentProfiles &Profiles) {
  ListedUnit Listed{
      normalisedPath(U.Source, U.Directory), normalisedPath(U.Output, U.Directory), {}};
  Profile Decisions = storedDecisions(U, Store), Site;
  if (!Decisions.FileCap)
    Site = siteDecisions(U, Store);
  std::vector<const Profile *> Asked;
  if (const Profile *P = Profiles.of(U))
    Asked.push_back(P);
  Asked.push_back(&Decisions);
  Asked.push_back(&Site);
  for (const UnitImage &Image : U.Images)
    if (llvm::Error E = listImage(Listed, Image, U, Asked, Store))
      logLine(Listed.Source + ": " + llvm::toString(std::move(E)));
  llvm::sort(Listed.Kernels, [](const ListedKernel &A, const ListedKernel &B) {
    return std::tie(A.Names.Name, A.Arch, A.Names.Mangled) <
           std::tie(B.Names.Name, B.Arch, B.Names.Mangled);
  });
  return Listed;
}

std::vector<UnmatchedEntry> unmatchedEntries(const Profile &P,
                                             const std::vector<KernelIdentity> &Kernels) {
  std::vector<std::string> Names;
  for (const KernelIdentity &K : Kernels)
    Names.push_back(K.Name);
  std::vector<UnmatchedEntry> Unmatched;
  for (const Decision &D : P.Kernels)
    if (llvm::none_of(Kernels,
                      [&](const KernelIdentity &K) { return matchOf(D, K) != NameMatch::None; }))
      Unmatched.push_back({D.Kernel, D.Arch, nearestNames(D.Kernel, Names)});
  return Unmatched;
}

std::string fromText(const ListedKernel &K) {
  if (K.From == "default")
    return "-";
  return K.From + (K.Pinned ? ", by hand" : "");
}

} // namespace

KernelList carve::listKernels(const UnitStore &Store, llvm::ArrayRef<std::string> Folders,
                              CurrentProfiles &Profiles) {
  KernelList List;
  std::vector<KernelIdentity> Kernels;
  for (const Unit &U : Store.units()) {
    llvm::append_range(Kernels, kernelsOf(U, Store));
    if (!isInOneOf(U, Folders))
      continue;
    List.Units.push_back(listUnit(U, Store, Profiles));
  }
  llvm::sort(List.Units, [](const ListedUnit &A, const ListedUnit &B) {
    return std::tie(A.Source, A.Output) < std::tie(B.Source, B.Output);
  });
  if (const Profile *Given = Profiles.given())
    List.Unmatched = unmatchedEntries(*Given, Kernels);
  return List;
}

std::string carve::printKernelsText(const KernelList &List) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  for (const ListedUnit &U : List.Units) {
    OS << U.Source << " (" << U.Output << ")\n";
    for (const ListedKernel &K : U.Kernels) {
      OS << llvm::formatv("  {0,-7} {1,3} registers  {2}  {3}  \"{4}\"\n", K.Arch, K.Regs,
                          settingText(K.Setting), fromText(K), K.Names.Name);
      for (const std::string &Ignored : K.Ignored)
        OS << "    " << Ignored << "\n";
    }
  }
  for (const UnmatchedEntry &E : List.Unmatched) {
    OS << "no kernel is named \"" << E.Kernel << "\"";
    if (!E.Nearest.empty())
      OS << "; did you mean \"" << llvm::join(E.Nearest, "\" or \"") << "\"?";
    OS << "\n";
  }
  return Text;
}

std::string carve::printKernelsJson(const KernelList &List) {
  auto Strings = [](const std::vector<std::string> &Texts) {
    json::Array Array;
    for (const std::string &Text : Texts)
      Array.push_back(json::fixUTF8(Text));
    return Array;
  };
  json::Array Units, Unmatched;
  for (const ListedUnit &U : List.Units) {
    json::Array Kernels;
    for (const ListedKernel &K : U.Kernels)
      Kernels.push_back(json::Object{{"kernel", json::fixUTF8(K.Names.Name)},
                                     {"mangled", json::fixUTF8(K.Names.Mangled)},
                                     {"arch", K.Arch},
                                     {"registers", int64_t(K.Regs)},
                                     {"setting", settingText(K.Setting)},
                                     {"from", json::fixUTF8(K.From)},
                                     {"by-hand", K.Pinned},
                                     {"ignored", Strings(K.Ignored)}});
    Units.push_back(json::Object{{"source", json::fixUTF8(U.Source)},
                                 {"output", json::fixUTF8(U.Output)},
                                 {"kernels", std::move(Kernels)}});
  }
  for (const UnmatchedEntry &E : List.Unmatched)
    Unmatched.push_back(json::Object{
        {"kernel", json::fixUTF8(E.Kernel)}, {"arch", E.Arch}, {"nearest", Strings(E.Nearest)}});
  json::Object Whole{{"units", std::move(Units)}, {"unmatched", std::move(Unmatched)}};
  return llvm::formatv("{0:2}", json::Value(std::move(Whole))).str() + "\n";
}
