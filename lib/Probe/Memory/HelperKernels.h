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
  uint64_t Chunks = 0; ///< The chunks of all pieces.
};

/// Makes the failure of a driver call, from its name and the number of the error.
Failure driverFailure(const char *Call, CUresult Result);

/// The kernels in all contexts. Every function but load() queues one kernel on a stream and does
/// not wait for it.
class HelperKernels {
public:
  explicit HelperKernels(const DriverApi &Driver) : Driver(Driver) {}

  /// Chooses the current context, and loads the kernels there unless they are loaded.
  Failure load();

  /// Copies live memory to the shadow, or the shadow to live memory if \p ToLive is set.
  Failure copy(CUstream Stream, const DeviceTable &Table, bool ToLive);
  /// Writes a byte for every chunk to \p Flags: whether live memory and shadow differ there.
  Failure compare(CUstream Stream, const DeviceTable &Table, CUdeviceptr Flags);
  /// Adds the differences between live memory and shadow to the helper::Tally at \p Total.
  Failure difference(CUstream Stream, const DeviceTable &Table, CUdeviceptr Total);
  /// Sets the 64-bit word at \p Found to the address of a word of live memory that lies in one of
  /// the \p Count helper::Intervals at \p Intervals, which are sorted and do not touch. It stays as
  /// it is, which should be 0, if there is no such word.
  Failure scan(CUstream Stream, const DeviceTable &Table, CUdeviceptr Intervals, uint32_t Count,
               CUdeviceptr Found);
  /// Reads \p Bytes, a multiple of 16, from \p Data on. \p Sink is a 32-bit word that the kernel
  /// may write. With \p EvictFirst, L2 gives up the lines that were read before all others.
  Failure read(CUstream Stream, CUdeviceptr Data, uint64_t Bytes, CUdeviceptr Sink,
               bool EvictFirst);

private:
  struct Loaded {
    CUmodule Module = nullptr;
    CUfunction Copy = nullptr, Compare = nullptr, Difference = nullptr, Scan = nullptr,
               Read = nullptr;
    uint32_t Blocks = 1; ///< The number of blocks that run at once at most.
  };

  Failure resolve(Loaded &Kernels);
  Failure launch(CUstream Stream, CUfunction Function, uint64_t Work, void **Parameters);

  const DriverApi &Driver;
  /// The kernels by the number of the context, which no later context gets, or by its handle if the
  /// driver is too old to number contexts.
  std::unordered_map<uint64_t, Loaded> Contexts;
  Loaded Now;
};

} // namespace carve::probe
