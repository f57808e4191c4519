#include "Store/UserProfile.h"

#include "Ptx/ProfileName.h"
#include "Ptx/PtxModule.h"
#include "Store/DecisionFiles.h"
#include "Store/ProfileReader.h"
#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Log.h"

#include "llvm/Support/FileSystem.h"

#include <set>

using namespace carve;

llvm::Expected<UserProfile> UserProfile::read(llvm::StringRef Path, bool ByOption,
                                              llvm::StringRef WorkDir) {
  UserProfile U;
  if (Path.empty())
    return U;
  U.Named = Path.str();
  U.Path = absolutePath(Path, WorkDir);
  U.ByOption = ByOption;
  if (!llvm::sys::fs::exists(U.Path))
    return U;
  llvm::Expected<std::string> Text = readFile(U.Path, FileLimit::Record);
  llvm::Expected<Profile> P = Text ? parseProfile(*Text, U.Named) : Text.takeError();
  if (!P)
    return usageError("carve-nvcc: " + llvm::toString(P.takeError()));
  U.Read = std::move(*P);
  U.Text = std::move(*Text);
  return U;
}

void UserProfile::noteIn(Unit &U, const UnitStore &Store) const {
  U.ProfileByOption = ByOption;
  // If the variable named a file that did not exist, no depfile lists it.
  U.ProfilePath = ByOption || Read ? Path : "";
  U.ProfileChoices = Read ? profileChoices(*Read, U, Store) : "";
}

std::string UserProfile::warning() const {
  if (Path.empty() || Read || llvm::sys::fs::exists(Path))
    return "";
  return Named + ": there is no such profile, and none is used";
}

std::vector<KernelIdentity> carve::kernelsOf(const Unit &U, const UnitStore &Store) {
  std::set<std::string> Mangled;
  for (const UnitImage &I : U.Images)
    for (const KernelResources &K : I.Kernels)
      Mangled.insert(K.Name);
  if (U.Images.empty())
    for (const EmbeddedPtx &P : U.Ptx) {
      llvm::Expected<std::string> Text = Store.blob(P.PtxDigest);
      llvm::Expected<PtxModule> Ptx = Text ? PtxModule::parse(std::move(*Text)) : Text.takeError();
      if (!Ptx) {
        logLine(llvm::toString(Ptx.takeError()));
        continue;
      }
      for (const PtxEntry &Entry : Ptx->entries())
        Mangled.insert(Entry.Name);
    }
  std::vector<KernelIdentity> Kernels;
  for (const std::string &Name : Mangled)
    Kernels.push_back({profileName(Name), Name});
  return Kernels;
}

Profile carve::storedDecisions(const Unit &U, const UnitStore &Store) {
  constexpr llvm::StringLiteral Name = "store";
  llvm::Expected<std::optional<std::string>> Text = readDecisions(Store, U.Key);
  llvm::Expected<Profile> Read =
      Text ? (*Text ? parseProfile(**Text, Name) : Profile()) : Text.takeError();
  Profile P;
  if (Read)
    P = std::move(*Read);
  else
    logLine(llvm::toString(Read.takeError()));
  P.Name = Name;
  return P;
}

llvm::Expected<std::vector<Profile>> carve::profilesOf(const Unit &U, const UnitStore &Store) {
  llvm::Expected<UserProfile> User = UserProfile::read(U.ProfilePath, U.ProfileByOption, "");
  if (!User)
    return User.takeError();
  std::vector<Profile> Profiles;
  if (User->Read)
    Profiles.push_back(std::move(*User->Read));
  Profiles.push_back(storedDecisions(U, Store));
  return Profiles;
}

std::string carve::profileChoices(const Profile &P, const Unit &U, const UnitStore &Store) {
  std::string Choices = choicesOf(concerning(P, kernelsOf(U, Store)));
  return Choices.empty() ? "" : digestOf(Choices);
}

llvm::Expected<CurrentProfiles> CurrentProfiles::read(llvm::StringRef Path,
                                                      llvm::StringRef WorkDir) {
  llvm::Expected<UserProfile> Given = UserProfile::read(Path, false, WorkDir);
  if (!Given)
    return Given.takeError();
  CurrentProfiles Result;
  Result.Given = std::move(*Given);
  return Result;
}

const Profile *CurrentProfiles::of(const Unit &U) {
  if (!U.ProfileByOption)
    return given();
  auto [Known, New] = ByPath.try_emplace(U.ProfilePath);
  if (New) {
    llvm::Expected<UserProfile> P = UserProfile::read(U.ProfilePath, false, "");
    if (P)
      Known->second = std::move(P->Read);
    else
      logLine(llvm::toString(P.takeError()));
  }
  return Known->second ? &*Known->second : nullptr;
}

bool CurrentProfiles::isNewTo(const Unit &U) const {
  return !U.ProfileByOption && Given.Read && Given.Path != U.ProfilePath;
}
