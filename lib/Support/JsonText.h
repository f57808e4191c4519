/// \file
/// Parses JSON from a file that anybody may have written.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

namespace carve {

/// The limit for nested objects and arrays. LLVM's parser, and the destructor of its result, call
/// themselves for each level and would exhaust the stack. Our own files have fewer than ten levels.
inline constexpr unsigned MostJsonDepth = 64;

/// Parses \p Text. Fails with line and column if it is not JSON, and if it has more than
/// MostJsonDepth levels.
llvm::Expected<llvm::json::Value> parseJsonText(llvm::StringRef Text);

} // namespace carve
