/// \file
/// `carve points` without its output: reads the words of the command, compiles the file to PTX,
/// finds the register regions and the critical points. Needs no GPU.
#pragma once

#include "Points/PointsReport.h"

namespace carve {

/// The command as the user gave it.
struct PointsOptions {
  std::vector<std::string> Archs;              ///< Empty: every real architecture of the command.
  std::vector<std::array<unsigned, 3>> Blocks; ///< Empty: each kernel's own default.
  unsigned DynamicSmemBytes = 0;
  bool Json = false;
  std::string File;                     ///< `x.cu` or `x.ptx`.
  std::vector<std::string> NvccOptions; ///< What stood behind `--`.
};

/// Reads the words after `points`. Fails with UsageError naming the actual and the expected.
llvm::Expected<PointsOptions> parsePointsOptions(llvm::ArrayRef<std::string> Args);

/// Finds the points that \p Options ask for. A block that a kernel's directives refuse has none.
/// Fails with UsageError where the file cannot be read or an architecture is unknown, and with
/// ToolFailure where nvcc fails.
llvm::Expected<PointsReport> findPoints(const PointsOptions &Options, const Toolchain &T,
                                        CommandRunner &Runner, llvm::StringRef DevicesDir);

} // namespace carve
