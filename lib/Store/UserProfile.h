/// \file
/// The profile that a user's command or environment names. A compile reads it, and notes in the
/// records of its units which one it was. Commands such as `carve touch`, which ask what the next
/// build would do, learn it there.
#pragma once

#include "Nvcc/Toolchain.h"
#include "Store/Profile.h"
#include "Store/UnitStore.h"

#include <map>
#include <optional>
#include <string>

namespace carve {

/// The profile of one compile.
struct UserProfile {
  std::string Path;            ///< Absolute; empty if no profile is named.
  std::string Named;           ///< The path as the user gave it, for messages.
  bool ByOption = false;       ///< Named by `--carve-profile`, not by the variable.
  std::optional<Profile> Read; ///< Absent if there is no such file.
  std::string Text;

  /// Reads the profile at \p Path, which is relative to \p WorkDir unless it is absolute. An empty
  /// path means that no profile is named. \p ByOption says that `--carve-profile` named it. Fails
  /// with UsageError if the file exists but cannot be read as a profile.
  static llvm::Expected<UserProfile> read(llvm::StringRef Path, bool ByOption,
                                          llvm::StringRef WorkDir);

  /// Writes into \p U the facts that decide later whether the profile has changed since this
  /// compile.
  void noteIn(Unit &U, const UnitStore &Store) const;

  /// Returns a warning if the profile is named but does not exist. A tuning may write it, so the
  /// file is looked for again at the end of the compile. Returns an empty text otherwise.
  std::string warning() const;
};

/// Returns the kernels of \p U under both names, each once.
std::vector<KernelIdentity> kernelsOf(const Unit &U, const UnitStore &Store);

/// Returns decisionDigest() for every entry of the PTX of \p U, sorted: this is what a tuning of
/// the unit has examined. A changed or new kernel changes the list; an edit elsewhere does not.
/// With \p AddedArchs the list also holds the digests that the entries would have in images added
/// for these architectures (ImageOrigin::FromPtx).
llvm::Expected<std::vector<std::string>> kernelDigests(const Unit &U, const UnitStore &Store,
                                                       llvm::ArrayRef<std::string> AddedArchs = {});

/// Returns the decisions of the store on \p U, as a profile with the name `store`. It is empty if
/// there are none or they cannot be read, which is logged.
Profile storedDecisions(const Unit &U, const UnitStore &Store);

/// Returns the decisions of the site's store that hold for the kernels of \p U as they are now, as
/// a profile with the name `site`. If several hold for one kernel, it has the one with the latest
/// evidence. It is empty if there is no such store.
Profile siteDecisions(const Unit &U, const UnitStore &Store);

/// Returns \p Own with those of siteDecisions() about which \p Own decides nothing.
Profile withSiteDecisions(Profile Own, const Unit &U, const UnitStore &Store);

/// Returns the profiles that a build of \p U asks, in their order: the one that its last compile
/// named, if that exists, and the store's with those of its site. Fails as UserProfile::read()
/// does.
llvm::Expected<std::vector<Profile>> profilesOf(const Unit &U, const UnitStore &Store);

/// Returns a digest of what \p P says about \p U; empty if it says nothing.
std::string profileChoices(const Profile &P, const Unit &U, const UnitStore &Store);

/// The profiles with which builds would compile today: for units that were compiled with
/// `--carve-profile` the file that it named, for all others one common profile.
class CurrentProfiles {
public:
  /// Reads the common profile from \p Path, the value of `--profile` or CARVE_PROFILE; empty if
  /// there is none. Fails as UserProfile::read() does.
  static llvm::Expected<CurrentProfiles> read(llvm::StringRef Path, llvm::StringRef WorkDir);

  /// Returns the profile for \p U; null if none can be read, which is logged.
  const Profile *of(const Unit &U);
  /// Returns true if the depfile of \p U does not list the profile that its next compile reads.
  bool isNewTo(const Unit &U) const;
  /// Returns the common profile, or null if there is none.
  const Profile *given() const { return Given.Read ? &*Given.Read : nullptr; }
  std::string warning() const { return Given.warning(); }

private:
  UserProfile Given;
  std::map<std::string, std::optional<Profile>> ByPath;
};

/// Returns the profiles that builds compile with now. \p Given is the value of `--profile`; the
/// file must exist. If it is empty, CARVE_PROFILE names the profile. Units that were compiled with
/// `--carve-profile` keep the profile that their commands named. Prints a warning if CARVE_PROFILE
/// names no file. Fails with UsageError if \p Given does not exist or a profile cannot be read.
llvm::Expected<CurrentProfiles> currentProfiles(std::string Given, GetEnv Env);

} // namespace carve
