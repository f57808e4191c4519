/// \file
/// Finds the GPUs that a workload may use, before anything has run. A tuning locks these until the
/// trace tells which ones the workload does use.
#pragma once

#include "Nvcc/Toolchain.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// A GPU as the kernel driver lists it.
struct SystemGpu {
  std::string Bus;   ///< Its place on the bus, such as `0000:18:00.0`.
  std::string Uuid;  ///< Such as `GPU-1f2e...`; empty if the driver has not read it yet.
  std::string Model; ///< Such as `NVIDIA H200`.
};

/// The GPUs of \p ProcDir (`/proc/driver/nvidia/gpus`) that have their device file
/// (`nvidia<minor>`) in \p DevDir, in the order of the bus. The result is empty if the driver keeps
/// no such list, as under WSL.
std::vector<SystemGpu> systemGpus(llvm::StringRef ProcDir, llvm::StringRef DevDir);

/// The GPUs of \p All that a program sees with these values of CUDA_VISIBLE_DEVICES and
/// CUDA_DEVICE_ORDER, in its order. It understands UUIDs, beginnings of UUIDs, and numbers that can
/// mean only one GPU (all GPUs are of one model, or the order is PCI_BUS_ID). Returns nothing if
/// anything else is written.
std::optional<std::vector<SystemGpu>> certainGpus(const std::vector<SystemGpu> &All,
                                                  const std::optional<std::string> &Visible,
                                                  const std::optional<std::string> &Order);
/// The same, but all GPUs if it is not certain which.
std::vector<SystemGpu> visibleGpus(const std::vector<SystemGpu> &All,
                                   const std::optional<std::string> &Visible,
                                   const std::optional<std::string> &Order);

} // namespace carve
