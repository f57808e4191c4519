/// \file
/// What a command finds on the machine: our own files, and whether there is a GPU.
#pragma once

#include "Nvcc/Toolchain.h"

#include <string>

namespace carve {

/// Where our own files are, relative to the running program, so that the tree can be moved.
struct InstallTree {
  std::string Probe;      ///< libcarve_probe.so, in the folder of libraries
  std::string DevicesDir; ///< share/carve-nvcc/devices
  std::string Launch;     ///< bin/carve-launch
};

/// The folders of libraries and of data as seen from that of programs, such as `../lib64` and
/// `../share`. The build sets them. Absolute where the installation has no common prefix.
struct InstallLayout {
  std::string Libraries, Data;
};
InstallLayout installedLayout();

/// The tree of the program at \p OwnPath. Files are looked for where \p Layout has them, and then
/// in
/// `../lib` and `../share`, where every build tree has them.
InstallTree findInstallTree(llvm::StringRef OwnPath,
                            const InstallLayout &Layout = installedLayout());

/// Whether a GPU can be used: a device node is there, and CUDA_VISIBLE_DEVICES does not hide all.
bool gpuPresent(GetEnv Env);

} // namespace carve
