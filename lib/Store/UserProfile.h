/// \file
/// The profile that a user's command or environment names: read for a compile, noted in the records
/// of its units, and found again for commands that ask what a build would do now.
#pragma once

#include "Store/Profile.h"
#include "Store/UnitStore.h"

#include <map>
#include <optional>
#include <string>

namespace carve {

/// The profile of one compile.
struct UserProfile {
  std::string Path;            ///< Absolute; empty: none is named.
  std::string Named;           ///< As it was given, for messages.
  bool ByOption = false;       ///< By `--carve-profile`, not by the variable.
  std::optional<Profile> Read; ///< Absent if there is no such file.
  std::string Text;

  /// The profile at \p Path, from \p WorkDir if it is relative; empty: none is named. \p ByOption:
  /// by `--carve-profile`. Fails with a UsageError if it cannot be read as a profile.
  static llvm::Expected<UserProfile> read(llvm::StringRef Path, bool ByOption,
                                          llvm::StringRef WorkDir);

  /// Writes into \p U what its next compile is held against.
  void noteIn(Unit &U, const UnitStore &Store) const;

  /// What a person has to be told of it: that it is named and does not exist, not even now that the
  /// compile has ended (a tuning writes it). Empty otherwise.
  std::string warning() const;
};

/// The kernels of \p U under both names, each once.
std::vector<KernelIdentity> kernelsOf(const Unit &U, const UnitStore &Store);

/// Digest of what \p P says of \p U: empty where it says nothing.
std::string profileChoices(const Profile &P, const Unit &U, const UnitStore &Store);

/// The profiles with which builds would compile today: for units compiled with `--carve-profile`
/// the file that it named, for all others one given for all.
class CurrentProfiles {
public:
  /// \p Path as `--profile` or CARVE_PROFILE gives it; empty: none.
  static llvm::Expected<CurrentProfiles> read(llvm::StringRef Path, llvm::StringRef WorkDir);

  /// The profile for \p U; null if no profile can be read (logged).
  const Profile *of(const Unit &U);
  /// Whether the depfile of \p U does not list the profile that its next compile reads.
  bool isNewTo(const Unit &U) const;
  /// The one given for all units, or null.
  const Profile *given() const { return Given.Read ? &*Given.Read : nullptr; }
  std::string warning() const { return Given.warning(); }

private:
  UserProfile Given;
  std::map<std::string, std::optional<Profile>> ByPath;
};

} // namespace carve
