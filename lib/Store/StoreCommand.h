/// \file
/// The command `carve store`, which reports on the store and maintains it.
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// Runs `carve store stats|verify|prune|clear|publish` with its options. Fails with
/// UsageError for other words. `verify` without `--repair` fails if it finds faults.
llvm::Error runStore(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
