/// \file
/// The GPUs that a workload may use, before anything has been run: what a tuning locks until the
/// trace says which ones it does use.
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
  std::string Bus;   ///< `0000:18:00.0`
  std::string Uuid;  ///< `GPU-1f2e...`; empty while the driver has not read it.
  std::string Model; ///< `NVIDIA H200`
};

/// The GPUs of \p ProcDir (`/proc/driver/nvidia/gpus`) that have their device file
/// (`nvidia<minor>`) in \p DevDir, in the order of the bus. Empty where the driver keeps no such
/// list, as under WSL.
std::vector<SystemGpu> systemGpus(llvm::StringRef ProcDir, llvm::StringRef DevDir);

/// Which of \p All a program sees with these values of CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER:
/// UUIDs and beginnings of them, and numbers where these can mean one GPU only (all are of one
/// model, or the order is PCI_BUS_ID). Whatever else is written leaves all.
std::vector<SystemGpu> visibleGpus(const std::vector<SystemGpu> &All,
                                   const std::optional<std::string> &Visible,
                                   const std::optional<std::string> &Order);

} // namespace carve
