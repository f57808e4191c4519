/// \file
/// The command `carve touch`, which makes the next build remake stale outputs (StaleOutputs.h).
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// Runs `carve touch [--profile=FILE] [--list] [--all] [--format=text|json] [FOLDER...]`. Fails
/// with UsageError for other arguments, and fails if a file cannot be touched.
llvm::Error runTouch(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
