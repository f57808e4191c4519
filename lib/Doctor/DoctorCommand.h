/// \file
/// The command `carve doctor`.
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// `carve doctor [--format=text|json]`: prints the findings. Fails with Differs, that is with exit
/// status 1 and no message, if one of them is a fault.
llvm::Error runDoctor(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
