/// \file
/// The command `carve report`.
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// `carve report [--format=text|json|html] [--report=FILE|latest] [-o FILE]`
llvm::Error runReport(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
