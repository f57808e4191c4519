/// \file
/// Finds what differs between two profiles, for example before and after a tuning, or of two
/// machines or toolkits. DiffReport.h prints it.
#pragma once

#include "Store/Profile.h"

#include <optional>
#include <vector>

namespace carve {

/// The kind of a difference.
enum class ProfileChange {
  Added,
  Removed,
  Changed,    ///< Another setting or other code, or only one of them is pinned.
  Remeasured, ///< The same decision with other evidence.
};

/// One kernel on one architecture that differs between the profiles.
struct ProfileDifference {
  ProfileChange Kind = ProfileChange::Changed;
  /// Before is absent if the entry was added, After if it was removed.
  std::optional<Decision> Before, After;
};

/// All differences.
struct ProfileDiff {
  std::optional<unsigned> FileCapBefore, FileCapAfter;
  std::vector<ProfileDifference> Differences; ///< Sorted by kernel and architecture.
  unsigned Same = 0;                          ///< The number of entries that are equal in both.

  /// The number of differences of one kind.
  unsigned count(ProfileChange Kind) const;
  /// True if the profiles decide the same with the same evidence.
  bool empty() const { return Differences.empty() && FileCapBefore == FileCapAfter; }
};

/// Compares entries by kernel and architecture. If there are several entries for one kernel and
/// architecture, those of one source are compared with each other first (same digest, then same
/// toolkit, then any), then those with the same digest, then those of one toolkit, then the rest in
/// the order of toolkits.
ProfileDiff diffProfiles(const Profile &Before, const Profile &After);

} // namespace carve
