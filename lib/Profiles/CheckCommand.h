/// \file
/// The command `carve check`.
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// `carve check [--format=text|json|junit|sarif] [-o FILE] [tolerances] BASE NEW`
llvm::Error runCheck(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
