/// \file
/// The commands `carve merge` and `carve diff`.
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// `carve merge FILE... [-o FILE]`
llvm::Error runMerge(llvm::ArrayRef<std::string> Args, const CommandContext &Context);
/// `carve diff [--format=text|json] [--exit-code] BEFORE AFTER`
llvm::Error runDiff(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
