/// \file
/// Reads the YAML of a profile. Compiles, tuning and the commands of `carve` all read profiles
/// here.
#pragma once

#include "Store/Profile.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace carve {

/// Reads a profile. Fails and names \p Name, the line, the actual and the expected value. Unknown
/// keys are errors, so that a misspelled knob is not silently ignored. Fails with NewerFormat if
/// the profile has another format.
llvm::Expected<Profile> parseProfile(llvm::StringRef Yaml, llvm::StringRef Name);

} // namespace carve
