/// \file
/// Computes blocks per SM directly with cuda_occupancy.h. The limits are written down here a second
/// time, so that tests do not compare our results with our own table.
#pragma once

#include <cuda_occupancy.h>

#include <climits>
#include <vector>

namespace carve::test {

struct ArchLimits {
  int Sm, ThreadsPerSm, BlocksPerSm, SmemPerSm, SmemOptin, SmemReserved;
};

/// The values are from "Technical Specifications per Compute Capability" in the CUDA programming
/// guide.
inline const std::vector<ArchLimits> &archLimits() {
  static const std::vector<ArchLimits> Table = {
      {75, 1024, 16, 64 * 1024, 64 * 1024, 0},       {80, 2048, 32, 164 * 1024, 163 * 1024, 1024},
      {86, 1536, 16, 100 * 1024, 99 * 1024, 1024},   {87, 1536, 16, 164 * 1024, 163 * 1024, 1024},
      {88, 1536, 16, 100 * 1024, 99 * 1024, 1024},   {89, 1536, 24, 100 * 1024, 99 * 1024, 1024},
      {90, 2048, 32, 228 * 1024, 227 * 1024, 1024},  {100, 2048, 32, 228 * 1024, 227 * 1024, 1024},
      {103, 2048, 32, 228 * 1024, 227 * 1024, 1024}, {110, 1536, 24, 228 * 1024, 227 * 1024, 1024},
      {120, 1536, 24, 100 * 1024, 99 * 1024, 1024},  {121, 1536, 24, 100 * 1024, 99 * 1024, 1024},
  };
  return Table;
}

inline const ArchLimits &limitsOf(int Sm) {
  for (const ArchLimits &L : archLimits())
    if (L.Sm == Sm)
      return L;
  return archLimits().front();
}

inline cudaOccDeviceProp headerProperties(const ArchLimits &L) {
  cudaOccDeviceProp P;
  P.computeMajor = L.Sm / 10;
  P.computeMinor = L.Sm % 10;
  P.maxThreadsPerBlock = 1024;
  P.maxThreadsPerMultiprocessor = L.ThreadsPerSm;
  P.regsPerBlock = P.regsPerMultiprocessor = 65536;
  P.warpSize = 32;
  P.sharedMemPerBlock = 48 * 1024;
  P.sharedMemPerMultiprocessor = static_cast<size_t>(L.SmemPerSm);
  P.numSms = 100;
  P.sharedMemPerBlockOptin = static_cast<size_t>(L.SmemOptin);
  P.reservedSharedMemPerBlock = static_cast<size_t>(L.SmemReserved);
  return P;
}

/// Computes as a program does that has allowed its kernel all the dynamic shared memory of the
/// device.
inline unsigned headerBlocks(const ArchLimits &L, unsigned Regs, unsigned Threads,
                             unsigned StaticSmem = 0, unsigned DynamicSmem = 0,
                             unsigned Barriers = 0) {
  cudaOccDeviceProp P = headerProperties(L);
  cudaOccFuncAttributes A;
  A.maxThreadsPerBlock = INT_MAX;
  A.numRegs = static_cast<int>(Regs);
  A.sharedSizeBytes = StaticSmem;
  A.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  A.maxDynamicSharedSizeBytes = P.sharedMemPerBlockOptin - StaticSmem;
  A.numBlockBarriers = static_cast<int>(Barriers);
  cudaOccDeviceState State;
  cudaOccResult Result;
  if (cudaOccMaxActiveBlocksPerMultiprocessor(&Result, &P, &A, &State, static_cast<int>(Threads),
                                              DynamicSmem) != CUDA_OCC_SUCCESS)
    return 0;
  return static_cast<unsigned>(Result.activeBlocksPerMultiprocessor);
}

} // namespace carve::test
