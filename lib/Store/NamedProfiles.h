/// \file
/// The profiles that a command of `carve` works with, as its option and the environment name them.
#pragma once

#include "Nvcc/Toolchain.h"
#include "Store/UserProfile.h"

namespace carve {

/// The profiles that builds compile with now: \p Given by `--profile`, which must exist, else the
/// one that CARVE_PROFILE names, and the ones that commands name by option. Warns of a variable
/// that names no file.
llvm::Expected<CurrentProfiles> currentProfiles(std::string Given, GetEnv Env);

} // namespace carve
