/// \file
/// What `carve diff` shows: the differences between two profiles as text and as JSON.
#pragma once

#include "Profiles/ProfileDiff.h"

#include <string>

namespace carve {

/// A paragraph for each difference and a line that sums up.
std::string printDiffText(const ProfileDiff &Diff);

/// One object; entries have the keys of a profile, ratios are tuned over default.
std::string printDiffJson(const ProfileDiff &Diff);

} // namespace carve
