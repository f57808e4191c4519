/// \file
/// Looks at the machine for `carve doctor`, as a compile and a tuning would. Changes nothing on it.
#pragma once

#include "Command/CommandContext.h"
#include "Doctor/Machine.h"

namespace carve {

/// Looks at all that Findings judges. \p Variables: the environment, as `NAME=value`.
Machine lookAtMachine(const CommandContext &Context, llvm::ArrayRef<std::string> Variables,
                      CommandRunner &Runner);

} // namespace carve
