/// \file
/// The command `carve store`.
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// `carve store stats|verify|prune|clear [--format=text|json]`
llvm::Error runStore(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
