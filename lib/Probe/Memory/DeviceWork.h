/// \file
/// What the parts of a snapshot share: one stream of ours, our kernels, our memory, and waits that
/// end.
#pragma once

#include "Probe/Memory/HelperKernels.h"
#include "Probe/Memory/ShadowMemory.h"
#include "Probe/Memory/device/HelperTypes.h"
#include "Probe/Process/Failure.h"

#include <string>
#include <vector>

namespace carve::probe {

struct DeviceWork {
  DeviceWork(const DriverApi &Driver, uint64_t WaitMs)
      : Driver(Driver), Kernels(Driver), Memory(Driver), WaitMs(WaitMs) {}

  /// Gets device memory for \p Bytes more, and for what is needed where some of them have to go to
  /// the host.
  void expect(size_t Bytes);
  /// Whether there is staging memory, as data on the host needs it.
  bool stage();
  /// Waits until the stream is idle: `hang` after WaitMs and a millisecond for every MB of
  /// \p Bytes.
  Failure wait(uint64_t Bytes = 0);
  Failure toDevice(CUdeviceptr To, const void *From, size_t Bytes);
  /// Waits until the stream is idle, then copies: a copy to memory that is not page-locked waits
  /// within the driver, without an end.
  Failure toHost(void *To, CUdeviceptr From, size_t Bytes, uint64_t BytesBefore = 0);
  Failure zero(CUdeviceptr At, size_t Bytes);

  const DriverApi &Driver;
  HelperKernels Kernels;
  ShadowMemory Memory;
  uint64_t WaitMs;
  CUstream Stream = nullptr;
  /// For data of the host that a kernel is to read: StagingBytes, and Alignment bytes more; 0 while
  /// nothing of the snapshot is on the host.
  CUdeviceptr Staging = 0;
  static constexpr size_t StagingBytes = 64 * helper::ChunkBytes;
};

/// Pieces of memory for our kernels, on the host and, once uploaded, on the device.
class PieceTable {
public:
  void clear() { Pieces.clear(), Chunks = 0; }
  /// Nothing is on the device any more: its memory has gone another way.
  void reset() { clear(), Device = 0, Capacity = 0; }
  void add(CUdeviceptr Live, CUdeviceptr Shadow, uint64_t Bytes);
  /// For a launch of this piece only.
  void addAlone(CUdeviceptr Live, CUdeviceptr Shadow, uint64_t Bytes);
  Failure upload(DeviceWork &Work);

  DeviceTable all() const { return {Device, static_cast<uint32_t>(Pieces.size()), Chunks}; }
  /// The piece at \p Index, of addAlone().
  DeviceTable one(size_t Index) const;
  const helper::Piece &at(size_t Index) const { return Pieces[Index]; }
  size_t size() const { return Pieces.size(); }
  uint64_t bytes() const;

private:
  std::vector<helper::Piece> Pieces;
  uint64_t Chunks = 0;
  CUdeviceptr Device = 0;
  size_t Capacity = 0; ///< Pieces that fit there.
};

} // namespace carve::probe
