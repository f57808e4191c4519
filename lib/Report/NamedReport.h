/// \file
/// The report that a command of `carve` works with: the store's last one, or that of a file.
#pragma once

#include "Nvcc/Toolchain.h"
#include "Tune/Outcome/TuningReport.h"

#include <string>

namespace carve {

/// The last tuning's report of the store that \p Env names. Fails with UsageError where there is
/// none.
llvm::Expected<TuningReport> lastReport(GetEnv Env);
/// The report in the file \p Name; `latest`: lastReport().
llvm::Expected<TuningReport> namedReport(const std::string &Name, GetEnv Env);

} // namespace carve
