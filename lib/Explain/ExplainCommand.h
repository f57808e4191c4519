/// \file
/// Declares the command `carve explain`. Without a program it explains the last tuning's report
/// (ExplainReport.h); with one it runs the program (LimitsPipeline.h).
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// Runs `carve explain [--report=FILE|latest] [--format=text|json] [KERNEL] [options --
/// COMMAND...]` with the words after `explain` in \p Args, and prints the result. Fails with
/// UsageError for a wrong command line, an unknown kernel or a missing GPU, and if there is no
/// report or the program cannot be traced.
llvm::Error runExplain(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
