/// \file
/// Several profiles made one: what `carve merge` does for a team whose members tune on their own.
#pragma once

#include "Store/Profile.h"

#include "llvm/ADT/ArrayRef.h"

namespace carve {

/// The union of \p Profiles, the same whatever their order. Of entries with one kernel,
/// architecture and digest the one with more pairs stays, then the one with the newer date. Fails,
/// naming both profiles, where people contradict each other: two pins with different settings, two
/// file caps, or a file cap here and decisions for kernels there.
llvm::Expected<Profile> mergeProfiles(llvm::ArrayRef<Profile> Profiles);

} // namespace carve
