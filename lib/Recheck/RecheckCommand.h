/// \file
/// The command `carve recheck`: it times the decisions of earlier tunings again, and says which no
/// longer hold.
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// Runs `carve recheck [options] [-- COMMAND...]`. \p Args are the words after `recheck`. Fails
/// with Differs if a decision is lost, and with an error if the options are wrong, the program
/// cannot be timed, or none of the store's decisions can.
llvm::Error runRecheck(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
