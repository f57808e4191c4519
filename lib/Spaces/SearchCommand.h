/// \file
/// The command `carve search`.
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// `carve search --space SPACE [options] -- COMPILER...`
llvm::Error runSearch(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
