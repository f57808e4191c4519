/// \file
/// The command `carve touch`.
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// `carve touch [--profile=FILE] [--list] [--all] [--format=text|json] [FOLDER...]`
llvm::Error runTouch(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
