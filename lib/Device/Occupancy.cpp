#include "Device/Occupancy.h"

#include <cstdint>

// The toolkit's header is written in C, and some of its functions are unused here.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <cuda_occupancy.h>
#pragma GCC diagnostic pop

using namespace carve;

namespace {

cudaOccDeviceProp propertiesOf(const DeviceModel &D) {
  cudaOccDeviceProp P;
  P.computeMajor = static_cast<int>(D.Major);
  P.computeMinor = static_cast<int>(D.Minor);
  P.maxThreadsPerBlock = static_cast<int>(D.MaxThreadsPerBlock);
  P.maxThreadsPerMultiprocessor = static_cast<int>(D.MaxThreadsPerSm);
  P.regsPerBlock = static_cast<int>(D.RegsPerBlock);
  P.regsPerMultiprocessor = static_cast<int>(D.RegsPerSm);
  P.warpSize = static_cast<int>(D.WarpSize);
  P.sharedMemPerBlock = D.SmemPerBlockBytes;
  P.sharedMemPerMultiprocessor = D.SmemPerSmBytes;
  P.sharedMemPerBlockOptin = D.SmemPerBlockOptinBytes;
  P.reservedSharedMemPerBlock = D.ReservedSmemPerBlockBytes;
  // It only has to be positive. Grids depend on it, blocks per SM do not.
  P.numSms = 1;
  return P;
}

cudaOccFuncAttributes attributesOf(const DeviceModel &D, const BlockFootprint &B) {
  cudaOccFuncAttributes A;
  A.maxThreadsPerBlock = static_cast<int>(D.MaxThreadsPerBlock);
  A.numRegs = static_cast<int>(B.RegsPerThread);
  A.sharedSizeBytes = B.StaticSmemBytes;
  // A program that launches with more than the default limit has opted in to at least what it uses.
  A.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  A.maxDynamicSharedSizeBytes = B.DynamicSmemBytes;
  A.numBlockBarriers = static_cast<int>(B.Barriers);
  return A;
}

} // namespace

unsigned carve::blocksPerSm(const DeviceModel &D, const BlockFootprint &B) {
  // The header computes with int. It would reject sizes above these limits, if it did not overflow.
  if (B.ThreadsPerBlock == 0 || B.ThreadsPerBlock > D.MaxThreadsPerBlock ||
      B.RegsPerThread > D.RegsPerBlock ||
      uint64_t(B.StaticSmemBytes) + B.DynamicSmemBytes > D.SmemPerBlockOptinBytes)
    return 0;
  cudaOccDeviceProp Properties = propertiesOf(D);
  cudaOccFuncAttributes Attributes = attributesOf(D, B);
  cudaOccDeviceState State;
  cudaOccResult Result;
  cudaOccError Status = cudaOccMaxActiveBlocksPerMultiprocessor(
      &Result, &Properties, &Attributes, &State, static_cast<int>(B.ThreadsPerBlock),
      B.DynamicSmemBytes);
  if (Status != CUDA_OCC_SUCCESS || Result.activeBlocksPerMultiprocessor < 0)
    return 0;
  return static_cast<unsigned>(Result.activeBlocksPerMultiprocessor);
}

unsigned carve::maxThreadsForRegisters(const DeviceModel &D, unsigned RegsPerThread) {
  unsigned Threads = D.MaxThreadsPerBlock / D.WarpSize * D.WarpSize;
  for (; Threads > 0; Threads -= D.WarpSize) {
    BlockFootprint B;
    B.RegsPerThread = RegsPerThread;
    B.ThreadsPerBlock = Threads;
    if (blocksPerSm(D, B) > 0)
      return Threads;
  }
  return 0;
}
