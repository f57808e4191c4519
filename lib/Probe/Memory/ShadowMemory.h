/// \file
/// The memory in which a snapshot keeps its copies: on the device as far as there is room,
/// otherwise on the host. It serves one snapshot after the other until it is released.
#pragma once

#include "Probe/Driver/CuptiApi.h"
#include "Probe/Memory/PhysicalMemory.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace carve::probe {

/// Memory in slabs, from which parts are taken in order.
class ShadowMemory {
public:
  explicit ShadowMemory(const DriverApi &Driver) : Driver(Driver) {}

  struct Part {
    CUdeviceptr Device = 0; ///< 0 if the part is on the host.
    std::byte *Host = nullptr;
    size_t Bytes = 0; ///< 0 if there is no room anywhere.
  };

  /// Says that nothing that was taken is needed any more. Memory that cannot be released later
  /// without waiting for the program is released now.
  void settle();
  /// Starts again on the device of the current context: all memory that is held can be taken again.
  /// Memory on another device is released first.
  void rewind();

  /// Gets device memory so that takeSome() with \p Chunk can take \p Bytes more, if \p ReserveBytes
  /// then remain free; otherwise gets as much as possible. Returns whether all of it can be taken
  /// now.
  bool expect(size_t Bytes, size_t Chunk, size_t ReserveBytes);

  /// Returns device memory whose address has the same remainder by Alignment as \p Like, or 0 if
  /// there is none.
  CUdeviceptr take(size_t Bytes, CUdeviceptr Like = 0);
  /// As take(), for small amounts: if the memory that is held has no room, it allocates more from
  /// the reserve.
  CUdeviceptr takeLittle(size_t Bytes);
  /// Returns memory for the next of \p Bytes: all of them, as many whole \p Chunk as fit, or none.
  Part takeSome(size_t Bytes, size_t Chunk, CUdeviceptr Like);
  /// Returns memory on the host. It takes at most half of what is free there, and at most HostLimit
  /// in all.
  Part takeHost(size_t Bytes);

  void release();
  size_t heldBytes() const;

  static constexpr size_t Alignment = 256;
  size_t HostLimit = SIZE_MAX;

private:
  /// A block of device memory. It is mapped memory if the device supports that: unlike cuMemFree,
  /// unmapping does not wait for kernels of the program, and one of these may be waiting for the
  /// very call that the probe is in.
  struct Slab {
    CUdeviceptr Base = 0;
    size_t Bytes = 0, Used = 0;
    bool Mapped = false;
  };

  bool allocate(size_t Bytes);
  bool allocateMapped(size_t Bytes, Slab &New);
  bool freeSlab(const Slab &Old);
  static size_t gapFor(const Slab &From, CUdeviceptr Like);

  const DriverApi &Driver;
  CUdevice Device = 0;
  std::vector<Slab> Slabs;
  std::vector<std::unique_ptr<std::byte[]>> HostParts;
  size_t HostBytes = 0;
};

} // namespace carve::probe
