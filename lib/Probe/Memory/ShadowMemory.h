/// \file
/// The memory that a snapshot keeps its copies in: on the device as far as there is room, else on
/// the host. What is held serves one snapshot after the other until it is released.
#pragma once

#include "Probe/Driver/CuptiApi.h"
#include "Probe/Memory/PhysicalMemory.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace carve::probe {

class ShadowMemory {
public:
  explicit ShadowMemory(const DriverApi &Driver) : Driver(Driver) {}

  struct Part {
    CUdeviceptr Device = 0; ///< 0: on the host.
    std::byte *Host = nullptr;
    size_t Bytes = 0; ///< 0: there is no room anywhere.
  };

  /// Nothing taken is needed any more. What cannot be released later without waiting for the
  /// program is released now.
  void settle();
  /// Begins anew on the device of the current context: all that is held is free to be taken. What
  /// another device holds is released first.
  void rewind();

  /// Gets device memory so that \p Bytes more can be taken, by takeSome() with \p Chunk, if that
  /// leaves \p ReserveBytes free; else as much as can be had. Whether all of it can be taken now.
  bool expect(size_t Bytes, size_t Chunk, size_t ReserveBytes);

  /// Memory on the device, with the same remainder by Alignment as \p Like; 0 where there is none.
  CUdeviceptr take(size_t Bytes, CUdeviceptr Like = 0);
  /// The same, for little: where nothing held has room, the reserve is used.
  CUdeviceptr takeLittle(size_t Bytes);
  /// For the next of \p Bytes: all, or as many whole \p Chunk as fit, or none.
  Part takeSome(size_t Bytes, size_t Chunk, CUdeviceptr Like);
  /// Memory on the host: of all that is free there at most half, and HostLimit in all.
  Part takeHost(size_t Bytes);

  void release();
  size_t heldBytes() const;

  static constexpr size_t Alignment = 256;
  size_t HostLimit = SIZE_MAX;

private:
  /// Mapped memory where the device can do that: unlike cuMemFree, unmapping does not wait for
  /// kernels of the program, one of which may wait for the very call that we are in.
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
