#include "Store/UserProfile.h"

#include "Nvcc/EmbeddedPtx.h"
#include "Nvcc/StepOptions.h"
#include "Ptx/ProfileName.h"
#include "Ptx/PtxModule.h"
#include "Store/DecisionFiles.h"
#include "Store/ProfileReader.h"
#include "Store/PublishedDecisions.h"
#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Log.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
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

llvm::Expected<std::vector<std::string>>
carve::kernelDigests(const Unit &U, const UnitStore &Store,
                     llvm::ArrayRef<std::string> AddedArchs) {
  std::vector<std::string> Digests;
  auto Add = [&](const std::string &PtxDigest, llvm::StringRef Arch,
                 const std::vector<std::string> &Options, ImageOrigin Origin) -> llvm::Error {
    llvm::Expected<std::string> Text = Store.blob(PtxDigest);
    llvm::Expected<PtxModule> Ptx = Text ? PtxModule::parse(std::move(*Text)) : Text.takeError();
    if (!Ptx)
      return Ptx.takeError();
    for (const PtxEntry &Entry : Ptx->entries()) {
      llvm::Expected<std::string> Kernel = Ptx->kernelDigest(Entry.Name);
      if (!Kernel)
        return Kernel.takeError();
      Digests.push_back(decisionDigest(*Kernel, Arch, U.NvccVersion, Options, Origin));
    }
    return llvm::Error::success();
  };
  for (const UnitImage &I : U.Images)
    if (llvm::Error E = Add(I.PtxDigest, I.Arch, I.PtxasOptions, ImageOrigin::Compiled))
      return E;
  for (const EmbeddedPtx &P : U.Ptx) {
    if (llvm::Error E = Add(P.PtxDigest, "ptx", P.PtxasOptions, ImageOrigin::Compiled))
      return E;
    for (const std::string &Arch : AddedArchs)
      if (llvm::Error E =
              Add(P.PtxDigest, Arch, withArchitecture(P.PtxasOptions, Arch), ImageOrigin::FromPtx))
        return E;
  }
  llvm::sort(Digests);
  return Digests;
}

Profile carve::siteDecisions(const Unit &U, const UnitStore &Store) {
  Profile Holding;
  Holding.Name = "site";
  const UnitStore *Site = Store.site();
  if (!Site)
    return Holding;
  std::vector<Decision> Named = publishedDecisions(*Site, kernelsOf(U, Store));
  if (Named.empty())
    return Holding;
  // Other code of the same name, of this project or another, has its decisions in the same place.
  std::set<std::string> Archs;
  for (const Decision &D : Named)
    if (isGpuArchitecture(D.Arch))
      Archs.insert(D.Arch);
  llvm::Expected<std::vector<std::string>> Digests =
      kernelDigests(U, Store, std::vector<std::string>(Archs.begin(), Archs.end()));
  if (!Digests) {
    logLine(llvm::toString(Digests.takeError()));
    return Holding;
  }
  // The latest comes last, and replaces what was put before.
  for (Decision &D : Named)
    if (D.Digest && std::binary_search(Digests->begin(), Digests->end(), *D.Digest))
      Holding.put(std::move(D));
  return Holding;
}

Profile carve::withSiteDecisions(Profile Own, const Unit &U, const UnitStore &Store) {
  // A cap for the whole file was chosen for all of its kernels together.
  if (Own.FileCap)
    return Own;
  for (Decision &D : siteDecisions(U, Store).Kernels)
    if (llvm::none_of(Own.Kernels, [&](const Decision &Known) {
          return Known.Digest == D.Digest && Known.Arch == D.Arch;
        }))
      Own.Kernels.push_back(std::move(D));
  return Own;
}

llvm::Expected<std::vector<Profile>> carve::profilesOf(const Unit &U, const UnitStore &Store) {
  llvm::Expected<UserProfile> User = UserProfile::read(U.ProfilePath, U.ProfileByOption, "");
  if (!User)
    return User.takeError();
  std::vector<Profile> Profiles;
  if (User->Read)
    Profiles.push_back(std::move(*User->Read));
  Profiles.push_back(withSiteDecisions(storedDecisions(U, Store), U, Store));
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

llvm::Expected<CurrentProfiles> carve::currentProfiles(std::string Given, GetEnv Env) {
  if (!Given.empty() && !llvm::sys::fs::exists(Given))
    return usageError("there is no profile " + Given);
  if (Given.empty())
    Given = Env("CARVE_PROFILE").value_or("");
  llvm::SmallString<256> WorkDir;
  (void)llvm::sys::fs::current_path(WorkDir);
  llvm::Expected<CurrentProfiles> Profiles = CurrentProfiles::read(Given, WorkDir);
  if (Profiles && !Profiles->warning().empty())
    llvm::errs() << "carve: warning: " << Profiles->warning() << "\n";
  return Profiles;
}
