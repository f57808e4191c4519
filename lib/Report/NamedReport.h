/// \file
/// Reads the report that a command of `carve` works with: the store's last one, or that of a file.
#pragma once

#include "Nvcc/Toolchain.h"
#include "Tune/Outcome/TuningReport.h"

#include <string>

namespace carve {

/// Reads the last tuning's report from the store that \p Env names. Fails with UsageError if there
/// is none.
llvm::Expected<TuningReport> lastReport(GetEnv Env);
/// Reads the report in the file \p Name, or the last one if \p Name is `latest`. Fails with
/// UsageError if the file is empty, and with another error if it cannot be read or is not a report.
llvm::Expected<TuningReport> namedReport(const std::string &Name, GetEnv Env);

} // namespace carve
