/// \file
/// What became of every variant of a kernel in a tuning, and why: `carve explain` without a
/// command. With one, see LimitsReport.h.
#pragma once

#include "Tune/Outcome/TuningReport.h"

#include <string>

namespace carve {

/// For every kernel of \p R whose name or mangled name contains \p Kernel (empty: all that had
/// variants): the variants that were timed, the fastest first; those that were carved away; those
/// that could not be had or are forbidden; the choice; and what the report alone tells of its
/// limits. Empty where no kernel has that name.
std::string printExplanation(const TuningReport &R, llvm::StringRef Kernel);

/// The same as one JSON object (share/doc/formats.md). Empty where no kernel has that name.
std::string printExplanationJson(const TuningReport &R, llvm::StringRef Kernel);

} // namespace carve
