/// \file
/// Which files a source was preprocessed from, read from the line markers of the preprocessed text
/// that nvcc keeps. A depfile does not say it: there may be none, and -MMD leaves headers out.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <set>
#include <string>

namespace carve {

/// The files that the markers (`# 12 "dir/x.h" 1 3`) of \p Preprocessed name, as written there.
/// Nothing where the text may hold more than these: it has no markers, or the assembler includes
/// files of its own (`.incbin`).
std::optional<std::set<std::string>> includedFiles(llvm::StringRef Preprocessed);

} // namespace carve
