/// \file
/// The command `carve evaluate`.
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// `carve evaluate SWEEP.tsv [--budget=N] [--effort=0..3] [--arch=sm_90] [--format=text|json]`
llvm::Error runEvaluate(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
