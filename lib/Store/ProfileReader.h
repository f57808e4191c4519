/// \file
/// Reads a profile's YAML.
#pragma once

#include "Store/Profile.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace carve {

/// Reads a profile. Fails naming \p Name, the line, the actual and the expected; unknown keys are
/// an error, so that a misspelled knob is not silently ignored.
llvm::Expected<Profile> parseProfile(llvm::StringRef Yaml, llvm::StringRef Name);

} // namespace carve
