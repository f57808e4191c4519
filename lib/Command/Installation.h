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
  std::string Probe;            ///< libcarve_probe.so, in the folder of libraries
  std::string DevicesDir;       ///< share/carve-nvcc/devices
  std::string Launch;           ///< bin/carve-launch
  std::string JobTemplate = {}; ///< share/carve-nvcc/slurm/job.sh.in
};

/// The folders of libraries and of data as seen from that of programs, such as `../lib64` and
/// `../share`. The build sets them. Absolute where the installation has no common prefix.
struct InstallLayout {
  std::string Libraries, Data;
};
InstallLayout installedLayout();

/// Returns the paths for a program at \p OwnPath, an absolute path. Files are looked for at the
/// places of \p Layout, and then in `../lib` and `../share`, where every build tree has them.
InstallTree findInstallTree(llvm::StringRef OwnPath,
                            const InstallLayout &Layout = installedLayout());

/// True if a GPU can be used: a device node exists (`/dev/nvidia0` to `/dev/nvidia31`, or
/// `/dev/dxg` under WSL), and CUDA_VISIBLE_DEVICES in \p Env does not hide all devices.
bool gpuPresent(GetEnv Env);

} // namespace carve
