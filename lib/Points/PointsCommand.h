/// \file
/// Implements the command `carve points`: reads its arguments, calls PointsPipeline, and prints the
/// report.
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// Runs `carve points [options] FILE.cu|FILE.ptx [-- nvcc options]`. \p Args are the words after
/// `points`. It prints nothing if it fails; a wrong word is a UsageError.
llvm::Error runPoints(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
