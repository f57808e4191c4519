/// \file
/// What differs between two profiles: before and after a tuning, of two machines, of two toolkits.
#pragma once

#include "Store/Profile.h"

#include <optional>
#include <vector>

namespace carve {

enum class ProfileChange {
  Added,
  Removed,
  Changed,    ///< Another setting, other code, or pinned in one of them alone.
  Remeasured, ///< The same decision on other evidence.
};

/// One kernel on one architecture that is not the same in both.
struct ProfileDifference {
  ProfileChange Kind = ProfileChange::Changed;
  std::optional<Decision> Before, After; ///< One is absent where added or removed.
};

struct ProfileDiff {
  std::optional<unsigned> FileCapBefore, FileCapAfter;
  std::vector<ProfileDifference> Differences; ///< By kernel and architecture.
  unsigned Same = 0;                          ///< Entries equal in both.

  unsigned count(ProfileChange Kind) const;
  bool empty() const { return Differences.empty() && FileCapBefore == FileCapAfter; }
};

/// Compares by kernel and architecture. Of several entries for one, those of one source are
/// compared with each other (of one digest, then of one toolkit, then any), then those with the
/// same digest, then those of one toolkit, then the rest in the order of toolkits.
ProfileDiff diffProfiles(const Profile &Before, const Profile &After);

} // namespace carve
