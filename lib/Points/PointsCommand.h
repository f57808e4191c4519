/// \file
/// The command `carve points`.
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// `carve points [options] FILE.cu|FILE.ptx [-- nvcc options]`. Nothing is printed if it fails; a
/// wrong word is a UsageError.
llvm::Error runPoints(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
