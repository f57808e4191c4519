/// \file
/// Makes the device images of a CUDA source or a PTX file as a command does, but without the host
/// compiler. `carve points` and `carve metrics` examine them.
#pragma once

#include "Device/DeviceModel.h"
#include "Nvcc/BuildPlan.h"
#include "Nvcc/Toolchain.h"

#include <array>
#include <string>
#include <vector>

namespace carve {

/// What to make images of.
struct ImagesRequest {
  std::string Command;                  ///< The name of the command for messages, such as `points`.
  std::string File;                     ///< Such as `x.cu` or `x.ptx`.
  std::vector<std::string> Archs;       ///< If empty, every real architecture in the options.
  std::vector<std::string> NvccOptions; ///< The options after `--`.
};

/// Whether the name of \p File is that of a PTX file.
bool isPtxFile(llvm::StringRef File);

/// Makes nvcc write the PTX of \p Request into \p KeepDir, and returns the ptxas calls that it
/// plans. A PTX file is taken as it is, and only the plan is made for it. \p DevicesDir has the
/// files of known architectures. Fails with UsageError if the file cannot be read, an architecture
/// is unknown, or the command names none. Fails with ToolFailure if nvcc fails.
llvm::Expected<std::vector<DeviceImage>> makeDeviceImages(const ImagesRequest &Request,
                                                          const Toolchain &T, CommandRunner &Runner,
                                                          llvm::StringRef DevicesDir,
                                                          llvm::StringRef KeepDir);

/// Reads a block such as `256`, `32x8` or `32x8x1`, in threads. Fails with UsageError, which names
/// \p Option, if the text is not a block or exceeds CUDA's limits.
llvm::Expected<std::array<unsigned, 3>> parseBlock(llvm::StringRef Option, llvm::StringRef Text);

} // namespace carve
