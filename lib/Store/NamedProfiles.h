/// \file
/// Finds the profiles that a command of `carve` works with, from its option and the environment.
#pragma once

#include "Nvcc/Toolchain.h"
#include "Store/UserProfile.h"

namespace carve {

/// Returns the profiles that builds compile with now. \p Given is the value of `--profile`; the
/// file must exist. If it is empty, CARVE_PROFILE names the profile. Units that were compiled with
/// `--carve-profile` keep the profile that their commands named. Prints a warning if CARVE_PROFILE
/// names no file. Fails with UsageError if \p Given does not exist or a profile cannot be read.
llvm::Expected<CurrentProfiles> currentProfiles(std::string Given, GetEnv Env);

} // namespace carve
