/// \file
/// The limits of one GPU architecture, as far as occupancy depends on them. Read from
/// share/carve-nvcc/devices, one JSON file per architecture.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace carve {

struct DeviceModel {
  std::string Arch;              ///< `sm_90`.
  unsigned Major = 0, Minor = 0; ///< Compute capability.
  unsigned WarpSize = 32;
  unsigned MaxThreadsPerBlock = 0;
  unsigned MaxThreadsPerSm = 0;
  unsigned MaxBlocksPerSm = 0;
  unsigned RegsPerSm = 0;
  unsigned RegsPerBlock = 0;
  unsigned SmemPerSmBytes = 0;
  unsigned SmemPerBlockBytes = 0; ///< Without opting in.
  unsigned SmemPerBlockOptinBytes = 0;
  unsigned ReservedSmemPerBlockBytes = 0;
  /// What an SM carries out per cycle, in operations of threads; 0 where not known.
  unsigned Fp32PerClock = 0, IntegerMultiplyPerClock = 0, IntegerPerClock = 0, Fp64PerClock = 0,
           SpecialPerClock = 0;
  unsigned L2BytesPerClock = 0;   ///< Of the whole device's second-level cache; 0: not known.
  unsigned DramLatencyCycles = 0; ///< Of a load when nothing else is under way; 0: not known.
};

/// The model of \p Arch (`sm_90`, `sm_90a`, `sm_100f`: a suffix does not change the limits) from
/// \p DevicesDir. Fails naming the architectures that are there.
llvm::Expected<DeviceModel> loadDeviceModel(llvm::StringRef DevicesDir, llvm::StringRef Arch);

/// The architectures that \p DevicesDir describes, ascending.
std::vector<std::string> knownArchitectures(llvm::StringRef DevicesDir);

} // namespace carve
