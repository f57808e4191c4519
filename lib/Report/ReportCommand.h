/// \file
/// Declares the command `carve report`, which prints a tuning's report as text, JSON or a page
/// (TextReport.h, JsonReport.h, HtmlReport.h).
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// Runs `carve report [--format=text|json|html] [--report=FILE|latest] [-o FILE]` with the words
/// after `report` in \p Args. Fails with UsageError for a wrong command line or if there is no
/// report, and with another error if the report cannot be read or the output cannot be written.
llvm::Error runReport(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
