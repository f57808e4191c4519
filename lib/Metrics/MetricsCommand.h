/// \file
/// Implements the command `carve metrics`: reads its arguments, calls MetricsPipeline or
/// CountedMetrics, and prints the report.
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// Runs `carve metrics [options] FILE.cu|FILE.ptx|FILE.cubin [-- nvcc options]`, or `carve metrics
/// --count [options] -- COMMAND...`. \p Args are the words after `metrics`. If it fails, it prints
/// nothing.
llvm::Error runMetrics(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
