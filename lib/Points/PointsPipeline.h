/// \file
/// Implements `carve points` without its output: reads the arguments, compiles the file to PTX, and
/// finds the register regions and the critical points. It needs no GPU.
#pragma once

#include "Points/PointsReport.h"

namespace carve {

/// The command as the user gave it.
struct PointsOptions {
  std::vector<std::string> Archs; ///< If empty, every real architecture in the command.
  std::vector<std::array<unsigned, 3>> Blocks; ///< In threads. If empty, each kernel's own default.
  unsigned DynamicSmemBytes = 0;
  bool Json = false;
  std::string File;                     ///< Such as `x.cu` or `x.ptx`.
  std::vector<std::string> NvccOptions; ///< The options after `--`.
};

/// Reads \p Args, the words after `points`. Fails with UsageError, which names the actual and the
/// expected.
llvm::Expected<PointsOptions> parsePointsOptions(llvm::ArrayRef<std::string> Args);

/// Finds the points that \p Options ask for. A block that a kernel's directives refuse has no
/// points. Fails with UsageError if the file cannot be read or an architecture is unknown, and with
/// ToolFailure if nvcc fails.
llvm::Expected<PointsReport> findPoints(const PointsOptions &Options, const Toolchain &T,
                                        CommandRunner &Runner, llvm::StringRef DevicesDir);

} // namespace carve
