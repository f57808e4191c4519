/// \file
/// The command `carve metrics`.
#pragma once

#include "Command/CommandContext.h"

namespace carve {

/// `carve metrics [options] FILE.cu|FILE.ptx|FILE.cubin [-- nvcc options]`,
/// `carve metrics --count [options] -- COMMAND...`
llvm::Error runMetrics(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
