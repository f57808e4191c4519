/// \file
/// The command `carve tune`: it reads the options, calls tune() and prints the report.
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// Runs `carve tune [options] -- COMMAND...`. \p Args are the words after `tune`. Fails if the
/// options are wrong, the tuning fails, or nothing was tuned.
llvm::Error runTune(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
