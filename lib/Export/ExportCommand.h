/// \file
/// The command `carve export`: writes decisions as attributes in a patch or as compiler options, so
/// that plain nvcc can use them.
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// Runs `carve export --as=launch-bounds|maxnreg|patch|flags [options] [KERNEL...]`. \p Args are
/// the words after `export`. Fails if a word is not as expected, if no unit has a kernel that the
/// user named, if nothing can be exported, or if `-o` names a source.
llvm::Error runExport(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
