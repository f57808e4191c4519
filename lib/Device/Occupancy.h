/// \file
/// Blocks resident per SM: Eq. 3 of the critical-points paper, computed by NVIDIA's
/// cuda_occupancy.h.
#pragma once

#include "Device/DeviceModel.h"

namespace carve {

/// What bears on occupancy besides the device.
struct BlockFootprint {
  unsigned RegsPerThread = 0;
  unsigned ThreadsPerBlock = 0;
  unsigned StaticSmemBytes = 0; ///< As ptxas reports it; the reserved part is added by the header.
  unsigned DynamicSmemBytes = 0;
  unsigned Barriers = 0; ///< Named barriers per block; 16 of them limit blocks per SM.
};

/// Blocks resident per SM, Eq. 3: the least of what threads, registers, shared memory, barriers
/// and the block limit allow. 0 where the block cannot be launched at all.
unsigned blocksPerSm(const DeviceModel &D, const BlockFootprint &B);

/// The largest block, in threads and a multiple of the warp, that can be launched with
/// \p RegsPerThread registers; at most the device's limit. 0 where not one warp fits.
unsigned maxThreadsForRegisters(const DeviceModel &D, unsigned RegsPerThread);

} // namespace carve
