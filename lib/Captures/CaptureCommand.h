/// \file
/// Declares the command `carve capture`, which writes launches of a program's hot kernels to files
/// (CapturePipeline.h) and lists what such files contain.
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// Runs `carve capture [options] -- COMMAND...` or `carve capture --list FILE...` with the words
/// after `capture` in \p Args, and prints the result. Fails with UsageError for a wrong command
/// line or a missing GPU, with Unsupported if the program cannot be traced, and if a launch could
/// not be captured or its capture could not be launched.
llvm::Error runCapture(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
