/// \file
/// Prints the differences between two profiles for `carve diff`, as text and as JSON. ProfileDiff.h
/// finds them.
#pragma once

#include "Profiles/ProfileDiff.h"

#include <string>

namespace carve {

/// Returns a paragraph for each difference and a line that sums up.
std::string printDiffText(const ProfileDiff &Diff);

/// Returns one object. Entries have the keys of a profile; ratios are tuned over default.
std::string printDiffJson(const ProfileDiff &Diff);

} // namespace carve
