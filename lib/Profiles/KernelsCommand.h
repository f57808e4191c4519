/// \file
/// The command `carve kernels`.
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// `carve kernels [--profile=FILE] [--exit-code] [--format=text|json] [FOLDER...]`
llvm::Error runKernels(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
