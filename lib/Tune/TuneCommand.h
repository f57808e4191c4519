/// \file
/// The command `carve tune`.
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// `carve tune [options] -- COMMAND...`
llvm::Error runTune(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
