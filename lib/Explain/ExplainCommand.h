/// \file
/// The command `carve explain`.
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// `carve explain [--report=FILE|latest] [--format=text|json] [KERNEL] [options -- COMMAND...]`
llvm::Error runExplain(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
