/// \file
/// JSON from a file that anybody may have written.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

namespace carve {

/// Objects and arrays within each other. LLVM's parser calls itself for each, and what it makes
/// does when it goes, until the stack is used up; ours are not ten deep.
inline constexpr unsigned MostJsonDepth = 64;

/// The value that \p Text is. Fails where it is no JSON, with line and column, and where it is
/// nested deeper than MostJsonDepth.
llvm::Expected<llvm::json::Value> parseJsonText(llvm::StringRef Text);

} // namespace carve
