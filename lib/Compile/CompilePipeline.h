/// \file
/// The compile: it runs nvcc once, records the units, tunes them if that is due, and emits known or
/// new decisions. main() calls it for every command that Classification finds to be a compile.
#pragma once

#include "Compile/CompileRequest.h"
#include "Store/UnitStore.h"
#include "Tune/Outcome/TuningReport.h"

#include <optional>
#include <string>

namespace carve {

/// The result of a compile that nvcc has run or the store has replaced.
struct CompileResult {
  int ExitStatus = 0; ///< nvcc's exit status.
  int Signal = 0; ///< The signal that ended nvcc or that we were sent. The caller raises it again.
  std::optional<TuningReport> Tuned; ///< Present if the program was tuned just now.
  std::string Warning;               ///< Text for standard error; empty if there is none.
};

/// Compiles. Fails with Unsupported before nvcc was started, and the command must then be handed to
/// nvcc unchanged. Fails with other errors only if nvcc cannot be started. If a step after nvcc's
/// success fails, nvcc's output stays, and the failure is logged and counted in \p Store.
llvm::Expected<CompileResult> compile(const CompileRequest &Request, UnitStore &Store,
                                      const Toolchain &T, CommandRunner &Runner);

} // namespace carve
