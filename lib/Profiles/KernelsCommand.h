/// \file
/// Declares the command `carve kernels`, which lists the kernels of the store (KernelList.h).
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// Runs `carve kernels [--profile=FILE] [--exit-code] [--format=text|json] [FOLDER...]` with the
/// words after `kernels` in \p Args. Fails with UsageError for a wrong command line, with another
/// error if there is no store or the profile cannot be read, and with Differs if `--exit-code` is
/// given and an entry of the profile names no kernel.
llvm::Error runKernels(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
