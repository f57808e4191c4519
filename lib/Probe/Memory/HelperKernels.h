/// \file
/// Launches the probe's own kernels (device/Helper.cu). They are loaded into every context once.
#pragma once

#include "Probe/Driver/CuptiApi.h"
#include "Probe/Process/Failure.h"

#include <cstdint>
#include <string>
#include <unordered_map>

namespace carve::probe {

/// A table of helper::Piece in device memory.
struct DeviceTable {
  CUdeviceptr Pieces = 0;
  uint32_t Count = 0;
  uint64_t Chunks = 0; ///< Of all pieces.
};

/// A call of the driver failed: its name and the error's number.
Failure driverFailure(const char *Call, CUresult Result);

/// Every function but load() queues one kernel.
class HelperKernels {
public:
  explicit HelperKernels(const DriverApi &Driver) : Driver(Driver) {}

  /// Chooses the current context, and loads the kernels where that has not been done there.
  Failure load();

  /// From live memory to the shadow, or the other way round.
  Failure copy(CUstream Stream, const DeviceTable &Table, bool ToLive);
  /// A byte for every chunk at \p Flags: whether it differs.
  Failure compare(CUstream Stream, const DeviceTable &Table, CUdeviceptr Flags);
  /// Adds to the helper::Tally at \p Total.
  Failure difference(CUstream Stream, const DeviceTable &Table, CUdeviceptr Total);
  /// Sets the 32-bit word at \p Found where a word of live memory is in one of the \p Count
  /// helper::Intervals, which are sorted and apart.
  Failure scan(CUstream Stream, const DeviceTable &Table, CUdeviceptr Intervals, uint32_t Count,
               CUdeviceptr Found);
  /// Reads \p Bytes, a multiple of 16; \p Sink is a 32-bit word to write to.
  Failure read(CUstream Stream, CUdeviceptr Data, uint64_t Bytes, CUdeviceptr Sink);

private:
  struct Loaded {
    CUmodule Module = nullptr;
    CUfunction Copy = nullptr, Compare = nullptr, Difference = nullptr, Scan = nullptr,
               Read = nullptr;
    uint32_t Blocks = 1; ///< That run at once, at most.
  };

  Failure resolve(Loaded &Kernels);
  Failure launch(CUstream Stream, CUfunction Function, uint64_t Work, void **Parameters);

  const DriverApi &Driver;
  /// By the context's number, which no later context has, or its handle where the driver is too old
  /// to number them.
  std::unordered_map<uint64_t, Loaded> Contexts;
  Loaded Now;
};

} // namespace carve::probe
