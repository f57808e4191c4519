/// \file
/// What the GPU driver and CUPTI say of themselves, for MachineLook. Their libraries are loaded
/// into this process, so that they fail here as they would fail in a program.
#pragma once

#include "Doctor/Machine.h"
#include "Nvcc/Toolchain.h"

#include "llvm/ADT/StringRef.h"

#include <string>

namespace carve {

/// Where the driver is found.
struct DriverPlaces {
  std::string Proc = "/proc/driver/nvidia"; ///< Holds `version` and `params`.
  std::string ProcessStatus = "/proc/self/status";
  std::string Library = "libcuda.so.1";
};

/// \p Env decides whether the GPUs are hidden, \p DevicesDir which architectures are known.
SeenDriver lookAtDriver(GetEnv Env, llvm::StringRef DevicesDir, const DriverPlaces &Places = {});

/// The CUPTI of the toolkit whose programs are in \p BinDir.
SeenCupti lookAtCupti(llvm::StringRef BinDir);

} // namespace carve
