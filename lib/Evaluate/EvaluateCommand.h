/// \file
/// The command `carve evaluate`: runs the search of tuning on a table of measurements and prints
/// what it finds, or prints what each knob gained in tunings that were made.
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// Runs `carve evaluate SWEEP.tsv [--budget=N] [--effort=0..3] [--arch=sm_90]
/// [--format=text|json]` or `carve evaluate --knobs [--format=text|json] REPORT...`. \p Args are
/// the words after `evaluate`. Prints the evaluation to standard output. Fails if a word, the
/// device, the table or a report is not as expected, or if the table has no time of a default.
llvm::Error runEvaluate(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
