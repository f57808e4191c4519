/// \file
/// What the program's own handles of memory stand for: physical memory (cuMemCreate) and pools.
/// Where an address is mapped or allocated from one, the handle says what kind of memory it is and
/// on which device.
#pragma once

#include <cuda.h>

#include <optional>
#include <unordered_map>

namespace carve::probe {

enum class MemoryKind {
  Device,   ///< cuMemAlloc and its kin.
  Pool,     ///< cuMemAllocAsync, cuMemAllocFromPoolAsync.
  Mapped,   ///< cuMemMap: physical memory under reserved addresses.
  Managed,  ///< cuMemAllocManaged: the host may touch it at any time.
  Host,     ///< Page-locked host memory, allocated or registered, that kernels can reach.
  Imported, ///< Not the program's alone: another process, API or device may write it, or a graph
            ///< owns it, so that it need not be there now.
};

using PhysicalHandle = CUmemGenericAllocationHandle;

/// Not locked: DeviceMemory's lock guards it.
class PhysicalMemory {
public:
  struct Origin {
    MemoryKind Kind = MemoryKind::Mapped;
    int Device = -1; ///< -1: not known, or the host.
    unsigned Uses = 1;
  };

  void created(PhysicalHandle Handle, const CUmemAllocationProp &Properties);
  /// Once more; where it was released before, what is known of the memory is \p Known.
  void retained(PhysicalHandle Handle, const Origin &Known);
  void released(PhysicalHandle Handle);
  /// Not the program's alone from now on: imported, exported, or of several devices.
  void shared(PhysicalHandle Handle);
  Origin of(PhysicalHandle Handle) const;

  void pool(CUmemoryPool Pool, const CUmemLocation &Where, CUmemAllocationType Type);
  void devicePool(CUmemoryPool Pool, CUdevice Device);
  void sharedPool(CUmemoryPool Pool);
  void destroyedPool(CUmemoryPool Pool);
  Origin ofPool(CUmemoryPool Pool) const;

private:
  std::unordered_map<PhysicalHandle, Origin> Handles;
  std::unordered_map<CUmemoryPool, Origin> Pools;
};

} // namespace carve::probe
