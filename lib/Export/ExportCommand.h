/// \file
/// The command `carve export`.
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// `carve export --as=launch-bounds|maxnreg|patch|flags [options] [KERNEL...]`
llvm::Error runExport(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
