/// \file
/// Holds the limits of one GPU architecture, as far as occupancy depends on them, and its
/// throughputs. They are read from share/carve-nvcc/devices, which has one JSON file per
/// architecture.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace carve {

/// The limits and throughputs of one architecture.
struct DeviceModel {
  std::string Arch;              ///< Such as `sm_90`.
  unsigned Major = 0, Minor = 0; ///< The compute capability.
  unsigned WarpSize = 32;
  unsigned MaxThreadsPerBlock = 0;
  unsigned MaxThreadsPerSm = 0;
  unsigned MaxBlocksPerSm = 0;
  unsigned RegsPerSm = 0;
  unsigned RegsPerBlock = 0;
  unsigned SmemPerSmBytes = 0;
  unsigned SmemPerBlockBytes = 0; ///< Without the program's opting in to more.
  unsigned SmemPerBlockOptinBytes = 0;
  unsigned ReservedSmemPerBlockBytes = 0;
  /// Operations of threads that an SM executes per cycle; 0 if unknown.
  unsigned Fp32PerClock = 0, IntegerMultiplyPerClock = 0, IntegerPerClock = 0, Fp64PerClock = 0,
           SpecialPerClock = 0;
  unsigned L2BytesPerClock = 0;   ///< For the L2 cache of the whole device; 0 if unknown.
  unsigned DramLatencyCycles = 0; ///< For a load on an idle device; 0 if unknown.
};

/// Loads the model of \p Arch (`sm_90`, `sm_90a`, `sm_100f`; a suffix does not change the limits)
/// from \p DevicesDir. Fails with Unsupported `unknown-architecture`, which names the known ones,
/// if there is no file for it. Fails also if the file is malformed.
llvm::Expected<DeviceModel> loadDeviceModel(llvm::StringRef DevicesDir, llvm::StringRef Arch);

/// Returns the architectures that \p DevicesDir describes, in ascending order.
std::vector<std::string> knownArchitectures(llvm::StringRef DevicesDir);

} // namespace carve
