/// \file
/// What the parts of a snapshot share: a stream of the probe's own, its kernels, its memory, and
/// waits with a time limit.
#pragma once

#include "Probe/Memory/HelperKernels.h"
#include "Probe/Memory/ShadowMemory.h"
#include "Probe/Memory/device/HelperTypes.h"
#include "Probe/Process/Failure.h"

#include <string>
#include <vector>

namespace carve::probe {

/// The work of one snapshot on the device of the current context.
struct DeviceWork {
  DeviceWork(const DriverApi &Driver, uint64_t WaitMs)
      : Driver(Driver), Kernels(Driver), Memory(Driver), WaitMs(WaitMs) {}

  /// Gets device memory for \p Bytes more, and also the staging memory if some of them must go to
  /// the host.
  void expect(size_t Bytes);
  /// Returns whether there is staging memory, which data on the host needs.
  bool stage();
  /// Waits until the stream is idle. Fails with `hang` after WaitMs, and one more millisecond for
  /// every MB of \p Bytes.
  Failure wait(uint64_t Bytes = 0);
  Failure toDevice(CUdeviceptr To, const void *From, size_t Bytes);
  /// Waits until the stream is idle, then copies. The wait comes first because a copy to memory
  /// that is not page-locked waits inside the driver, without a time limit.
  Failure toHost(void *To, CUdeviceptr From, size_t Bytes, uint64_t BytesBefore = 0);
  Failure zero(CUdeviceptr At, size_t Bytes);

  const DriverApi &Driver;
  HelperKernels Kernels;
  ShadowMemory Memory;
  uint64_t WaitMs;
  CUstream Stream = nullptr;
  /// The memory to which data of the host is copied for a kernel to read: StagingBytes, and
  /// Alignment bytes more. 0 while no part of the snapshot is on the host.
  CUdeviceptr Staging = 0;
  static constexpr size_t StagingBytes = 64 * helper::ChunkBytes;
};

/// Pieces of memory for the probe's kernels, on the host and, after upload(), on the device.
class PieceTable {
public:
  void clear() { Pieces.clear(), Chunks = 0; }
  /// Forgets the pieces and the table on the device, whose memory has been given back in another
  /// way.
  void reset() { clear(), Device = 0, Capacity = 0; }
  void add(CUdeviceptr Live, CUdeviceptr Shadow, uint64_t Bytes);
  /// Adds a piece for a launch of its own, in which its chunks begin at 0.
  void addAlone(CUdeviceptr Live, CUdeviceptr Shadow, uint64_t Bytes);
  Failure upload(DeviceWork &Work);

  DeviceTable all() const { return {Device, static_cast<uint32_t>(Pieces.size()), Chunks}; }
  /// Returns the piece at \p Index as a table of its own; addAlone() must have added it.
  DeviceTable one(size_t Index) const;
  const helper::Piece &at(size_t Index) const { return Pieces[Index]; }
  size_t size() const { return Pieces.size(); }
  uint64_t bytes() const;

private:
  std::vector<helper::Piece> Pieces;
  uint64_t Chunks = 0;
  CUdeviceptr Device = 0;
  size_t Capacity = 0; ///< The number of pieces for which the memory on the device has room.
};

} // namespace carve::probe
