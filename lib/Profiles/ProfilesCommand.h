/// \file
/// Declares the commands `carve merge` (ProfileMerge.h) and `carve diff` (ProfileDiff.h,
/// DiffReport.h).
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// Runs `carve merge FILE... [-o FILE]` with the words after `merge` in \p Args. Fails with
/// UsageError for a wrong command line, and with the error that names the files if a profile cannot
/// be read or if profiles contradict each other.
llvm::Error runMerge(llvm::ArrayRef<std::string> Args, const CommandContext &Context);
/// Runs `carve diff [--format=text|json] [--exit-code] BEFORE AFTER` with the words after `diff` in
/// \p Args. Fails with UsageError for a wrong command line, with the error that names the file if a
/// profile cannot be read, and with Differs if `--exit-code` is given and the profiles differ.
llvm::Error runDiff(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
