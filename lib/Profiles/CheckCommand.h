/// \file
/// Declares the command `carve check`, which compares two profiles or reports (ProfileCheck.h) and
/// prints the outcome (CheckReport.h, CheckDocuments.h).
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// Runs `carve check [--format=text|json|junit|sarif] [-o FILE] [tolerances] BASE NEW` with the
/// words after `check` in \p Args. Fails with Differs if a kernel became worse, and with
/// CannotCompare, which names the reason, if nothing could be compared.
llvm::Error runCheck(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
