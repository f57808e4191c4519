/// \file
/// Says what memory the program's handles mean: physical memory (cuMemCreate) and pools. When
/// memory is mapped or allocated from a handle, DeviceMemory learns here of what kind it is and on
/// which device.
#pragma once

#include <cuda.h>

#include <optional>
#include <unordered_map>

namespace carve::probe {

/// The kinds of memory, by what a replay may do with it.
enum class MemoryKind {
  Device,  ///< Memory of cuMemAlloc and similar calls.
  Pool,    ///< Memory of cuMemAllocAsync and cuMemAllocFromPoolAsync.
  Mapped,  ///< Physical memory mapped to reserved addresses with cuMemMap.
  Managed, ///< Memory of cuMemAllocManaged, which the host may touch at any time.
  Host,    ///< Page-locked host memory, allocated or registered, that kernels can reach.
  /// Memory that is not the program's alone: another process, API or device may write it, or a
  /// graph owns it, in which case it may not exist now.
  Imported,
};

using PhysicalHandle = CUmemGenericAllocationHandle;

/// All handles of the process. It has no lock of its own: DeviceMemory's lock protects it.
class PhysicalMemory {
public:
  struct Origin {
    MemoryKind Kind = MemoryKind::Mapped;
    int Device = -1; ///< -1 if the device is unknown or the memory is on the host.
    unsigned Uses = 1;
  };

  void created(PhysicalHandle Handle, const CUmemAllocationProp &Properties);
  /// Counts one more use of \p Handle. If it was released before, \p Known is what is known of its
  /// memory.
  void retained(PhysicalHandle Handle, const Origin &Known);
  void released(PhysicalHandle Handle);
  /// Marks the memory as no longer the program's alone: it was imported, exported, or is used by
  /// several devices.
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
