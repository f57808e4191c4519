/// \file
/// A driver in memory for the tests of snapshots: device memory is memory of this process, every
/// stream runs its work at once, and the probe's kernels are emulated.
#pragma once

#include "Probe/Driver/CuptiApi.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace carve::test {

/// Only one object exists at a time, because the functions of a driver have no object.
class MemoryDriver {
public:
  MemoryDriver();
  ~MemoryDriver();
  MemoryDriver(const MemoryDriver &) = delete;
  MemoryDriver &operator=(const MemoryDriver &) = delete;

  probe::DriverApi api() const;

  /// Returns memory of the program: \p Bytes bytes at an address that leaves \p Remainder by 256.
  /// No byte around it may be touched; the address sanitizer checks that.
  CUdeviceptr programMemory(size_t Bytes, size_t Remainder = 0);

  // How the driver behaves.
  size_t DeviceBytes = size_t(64) << 20; ///< The free device memory at the start.
  bool MapsMemory = true;
  CUcontext Context = reinterpret_cast<CUcontext>(1);
  unsigned long long ContextNumber = 1;
  int L2Bytes = 4096;
  /// The number of times that cuStreamQuery first says that the stream is not ready.
  unsigned NotReady = 0;
  CUresult StreamResult = CUDA_SUCCESS; ///< What cuStreamQuery says after that.

  // What the driver has seen.
  size_t UsedBytes = 0;
  std::vector<std::string> Launches; ///< The names of kernels, without the probe's prefix.
  std::map<CUdeviceptr, size_t> Known;
  int ModulesLoaded = 0;
  CUstreamCaptureMode CaptureMode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  int CaptureExchanges = 0;
  uint64_t ReadBytes = 0, EvictFirstBytes = 0, FilledBytes = 0;

private:
  std::vector<void *> Owned;
};

} // namespace carve::test
