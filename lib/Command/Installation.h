/// \file
/// Declares what a command finds on the machine before it starts: the installed files of
/// carve-nvcc, and whether there is a GPU.
#pragma once

#include "Nvcc/Toolchain.h"

#include <string>

namespace carve {

/// The paths of our own files. They are relative to the running program, so that the installation
/// can be moved.
struct InstallTree {
  std::string Probe;      ///< lib/libcarve_probe.so
  std::string DevicesDir; ///< share/carve-nvcc/devices
  std::string Launch;     ///< bin/carve-launch
};
/// Returns the paths for a program at \p OwnPath, an absolute path in `bin/`. Does not look whether
/// the files exist.
InstallTree findInstallTree(llvm::StringRef OwnPath);

/// True if a GPU can be used: a device node exists (`/dev/nvidia0` to `/dev/nvidia31`, or
/// `/dev/dxg` under WSL), and CUDA_VISIBLE_DEVICES in \p Env does not hide all devices.
bool gpuPresent(GetEnv Env);

} // namespace carve
