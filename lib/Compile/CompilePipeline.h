/// \file
/// The compile: nvcc once, units recorded, known or freshly found decisions emitted.
#pragma once

#include "Compile/CompileRequest.h"
#include "Store/UnitStore.h"
#include "Tune/Outcome/TuningReport.h"

#include <optional>
#include <string>

namespace carve {

struct CompileResult {
  int ExitStatus = 0;                ///< nvcc's.
  int Signal = 0;                    ///< That ended nvcc, or that we were sent: to be raised again.
  std::optional<TuningReport> Tuned; ///< Where the program was tuned just now.
  std::string Warning;               ///< For standard error; empty: none.
};

/// Compiles. Fails with Unsupported before nvcc was started (the command is then to be handed to
/// nvcc as it is), and with other errors only where nvcc cannot be started. Whatever fails after
/// nvcc succeeded leaves nvcc's output, is logged and counted in \p Store.
llvm::Expected<CompileResult> compile(const CompileRequest &Request, UnitStore &Store,
                                      const Toolchain &T, CommandRunner &Runner);

} // namespace carve
