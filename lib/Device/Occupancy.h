/// \file
/// Computes how many blocks are resident on an SM (Eq. 3 of the critical-points paper) with
/// NVIDIA's cuda_occupancy.h.
#pragma once

#include "Device/DeviceModel.h"

namespace carve {

/// What occupancy depends on besides the device.
struct BlockFootprint {
  unsigned RegsPerThread = 0;
  unsigned ThreadsPerBlock = 0;
  /// As ptxas reports it. cuda_occupancy.h adds the reserved part.
  unsigned StaticSmemBytes = 0;
  unsigned DynamicSmemBytes = 0;
  /// Named barriers per block. An SM has a limited number, so 16 per block limit the blocks per SM.
  unsigned Barriers = 0;
};

/// Returns the blocks resident per SM by Eq. 3: the minimum of what threads, registers, shared
/// memory, barriers and the limit of blocks allow. Returns 0 if the block cannot be launched at
/// all.
unsigned blocksPerSm(const DeviceModel &D, const BlockFootprint &B);

/// Returns the largest block, in threads and a multiple of the warp size, that can be launched with
/// \p RegsPerThread registers, up to the device's limit. Returns 0 if not even one warp fits.
unsigned maxThreadsForRegisters(const DeviceModel &D, unsigned RegsPerThread);

} // namespace carve
