/// \file
/// Finds the files that a source was preprocessed from, by the line markers of the preprocessed
/// text that nvcc keeps. A depfile does not suffice: there may be none, and -MMD leaves headers
/// out.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <set>
#include <string>

namespace carve {

/// Returns the files that the markers (`# 12 "dir/x.h" 1 3`) of \p Preprocessed name, as written
/// there. Returns nothing if the text may depend on other files: it has no markers, or the
/// assembler includes files (`.incbin`).
std::optional<std::set<std::string>> includedFiles(llvm::StringRef Preprocessed);

} // namespace carve
