/// \file
/// Merges several profiles into one for `carve merge`, for a team whose members tune separately.
#pragma once

#include "Store/Profile.h"

#include "llvm/ADT/ArrayRef.h"

namespace carve {

/// Returns the union of \p Profiles, which does not depend on their order. Of several entries with
/// the same kernel, architecture and digest, the one with more pairs is kept, then the one with the
/// newer date. Fails, naming both profiles, if people contradict each other: two pins with
/// different settings, two different file caps, or a file cap in one profile and decisions for
/// kernels in another.
llvm::Expected<Profile> mergeProfiles(llvm::ArrayRef<Profile> Profiles);

} // namespace carve
