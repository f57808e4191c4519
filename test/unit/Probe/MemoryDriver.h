/// \file
/// A driver in memory for the tests of snapshots: device memory is memory of this process, every
/// stream runs at once, and the probe's kernels are emulated.
#pragma once

#include "Probe/Driver/CuptiApi.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace carve::test {

/// There is one at a time, as the functions of a driver have no object.
class MemoryDriver {
public:
  MemoryDriver();
  ~MemoryDriver();
  MemoryDriver(const MemoryDriver &) = delete;
  MemoryDriver &operator=(const MemoryDriver &) = delete;

  probe::DriverApi api() const;

  /// Memory of the program: \p Bytes at an address that leaves \p Remainder by 256. No byte around
  /// it may be touched, which the address sanitizer sees.
  CUdeviceptr programMemory(size_t Bytes, size_t Remainder = 0);

  // What the driver is like.
  size_t DeviceBytes = size_t(64) << 20; ///< Free at first.
  bool MapsMemory = true;
  CUcontext Context = reinterpret_cast<CUcontext>(1);
  unsigned long long ContextNumber = 1;
  int L2Bytes = 4096;
  unsigned NotReady = 0;                ///< Times that cuStreamQuery says so first.
  CUresult StreamResult = CUDA_SUCCESS; ///< And then.

  // What it has seen.
  size_t UsedBytes = 0;
  std::vector<std::string> Launches; ///< Names of kernels, without our prefix.
  std::map<CUdeviceptr, size_t> Known;
  int ModulesLoaded = 0;
  CUstreamCaptureMode CaptureMode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  int CaptureExchanges = 0;
  uint64_t ReadBytes = 0;

private:
  std::vector<void *> Owned;
};

} // namespace carve::test
