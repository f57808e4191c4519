/// \file
/// The device images of a CUDA source or of a PTX file as a command makes them, without the host
/// compiler: what `carve points` and `carve metrics` look at.
#pragma once

#include "Device/DeviceModel.h"
#include "Nvcc/BuildPlan.h"
#include "Nvcc/Toolchain.h"

#include <array>
#include <string>
#include <vector>

namespace carve {

struct ImagesRequest {
  std::string Command;                  ///< For messages: `points`.
  std::string File;                     ///< `x.cu` or `x.ptx`.
  std::vector<std::string> Archs;       ///< Empty: every real architecture of the options.
  std::vector<std::string> NvccOptions; ///< What stood behind `--`.
};

bool isPtxFile(llvm::StringRef File);

/// Has nvcc make the PTX of \p Request in \p KeepDir (a PTX file is taken as it is) and returns the
/// ptxas calls planned for it; nothing is assembled for PTX. Fails with UsageError where the file
/// cannot be read or an architecture is unknown, and with ToolFailure where nvcc fails.
llvm::Expected<std::vector<DeviceImage>> makeDeviceImages(const ImagesRequest &Request,
                                                          const Toolchain &T, CommandRunner &Runner,
                                                          llvm::StringRef DevicesDir,
                                                          llvm::StringRef KeepDir);

/// `256`, `32x8` or `32x8x1`, within CUDA's limits of a block. Fails with UsageError that names
/// \p Option.
llvm::Expected<std::array<unsigned, 3>> parseBlock(llvm::StringRef Option, llvm::StringRef Text);

} // namespace carve
