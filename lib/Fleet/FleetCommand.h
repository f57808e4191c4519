/// \file
/// The command `carve fleet`: it reads the options, carries out one of its three steps, and prints
/// the result. A scheduler runs the middle step on many nodes.
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// Runs `carve fleet plan|run|merge`. \p Args are the words after `fleet`. Fails if the options are
/// wrong, a step cannot be carried out, or merge found shards unfinished or results that it
/// refused.
llvm::Error runFleet(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
