/// \file
/// The command `carve search`: finds the fastest values of a program's macros.
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// Runs `carve search --space SPACE [options] -- COMPILER...`. \p Args are the words after
/// `search`. Prints the search to standard output. Fails if a word is not as expected, if
/// searchSpace() fails, or if nothing could be timed.
llvm::Error runSearch(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
