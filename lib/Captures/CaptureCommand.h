/// \file
/// The command `carve capture`.
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// `carve capture [options] -- COMMAND...`, `carve capture --list FILE...`
llvm::Error runCapture(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
