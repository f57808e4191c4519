/// \file
/// The profile that a user's command or environment names. A compile reads it, and notes in the
/// records of its units which one it was. Commands such as `carve touch`, which ask what the next
/// build would do, learn it there.
#pragma once

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

/// Returns the decisions of the store on \p U, as a profile with the name `store`. It is empty if
/// there are none or they cannot be read, which is logged.
Profile storedDecisions(const Unit &U, const UnitStore &Store);

/// Returns the profiles that a build of \p U asks, in their order: the one that its last compile
/// named, if that exists, and storedDecisions(). Fails as UserProfile::read() does.
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

} // namespace carve
