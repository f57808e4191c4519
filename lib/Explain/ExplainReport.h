/// \file
/// Prints what became of every variant of a kernel in a tuning, and why: `carve explain` without a
/// command. LimitsReport.h is the report with a command.
#pragma once

#include "Tune/Outcome/TuningReport.h"

#include <string>

namespace carve {

/// Describes every kernel of \p R whose name or mangled name contains \p Kernel, or, if \p Kernel
/// is empty, every kernel that had variants. Lists the variants that were timed, the fastest first;
/// those that were carved away; those that could not be made or are forbidden; the choice; and what
/// the report alone tells about the kernel's limits. Returns an empty text if no kernel matches.
std::string printExplanation(const TuningReport &R, llvm::StringRef Kernel);

/// Returns the same as one JSON object (share/doc/formats.md). Returns an empty text if no kernel
/// matches a \p Kernel that is not empty.
std::string printExplanationJson(const TuningReport &R, llvm::StringRef Kernel);

} // namespace carve
