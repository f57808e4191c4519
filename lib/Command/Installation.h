/// \file
/// What a command finds on the machine: our own files, and whether there is a GPU.
#pragma once

#include "Nvcc/Toolchain.h"

#include <string>

namespace carve {

/// Where our own files are, relative to the running program, so that the tree can be moved.
struct InstallTree {
  std::string Probe;      ///< lib/libcarve_probe.so
  std::string DevicesDir; ///< share/carve-nvcc/devices
  std::string Launch;     ///< bin/carve-launch
};
InstallTree findInstallTree(llvm::StringRef OwnPath);

/// Whether a GPU can be used: a device node is there, and CUDA_VISIBLE_DEVICES does not hide all.
bool gpuPresent(GetEnv Env);

} // namespace carve
