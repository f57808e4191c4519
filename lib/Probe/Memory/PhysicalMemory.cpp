#include "Probe/Memory/PhysicalMemory.h"

using namespace carve::probe;

static bool onDevice(const CUmemLocation &Where) {
  return Where.type == CU_MEM_LOCATION_TYPE_DEVICE;
}

void PhysicalMemory::created(PhysicalHandle Handle, const CUmemAllocationProp &Properties) {
  Origin New;
  if (onDevice(Properties.location))
    New.Device = Properties.location.id;
  else
    New.Kind = MemoryKind::Host;
  Handles[Handle] = New;
}

void PhysicalMemory::retained(PhysicalHandle Handle, const Origin &Known) {
  auto [At, New] = Handles.try_emplace(Handle, Known);
  if (!New)
    ++At->second.Uses;
}

void PhysicalMemory::released(PhysicalHandle Handle) {
  auto At = Handles.find(Handle);
  if (At != Handles.end() && --At->second.Uses == 0)
    Handles.erase(At);
}

void PhysicalMemory::shared(PhysicalHandle Handle) { Handles[Handle].Kind = MemoryKind::Imported; }

PhysicalMemory::Origin PhysicalMemory::of(PhysicalHandle Handle) const {
  auto At = Handles.find(Handle);
  return At == Handles.end() ? Origin() : At->second;
}

void PhysicalMemory::pool(CUmemoryPool Pool, const CUmemLocation &Where, CUmemAllocationType Type) {
  // A pool that was exported stays exported.
  Origin &Known = Pools.try_emplace(Pool, Origin{MemoryKind::Pool}).first->second;
  if (Known.Kind != MemoryKind::Imported)
    Known.Kind = Type == CU_MEM_ALLOCATION_TYPE_MANAGED ? MemoryKind::Managed
                 : onDevice(Where)                      ? MemoryKind::Pool
                                                        : MemoryKind::Host;
  if (onDevice(Where))
    Known.Device = Where.id;
}

void PhysicalMemory::devicePool(CUmemoryPool Pool, CUdevice Device) {
  CUmemLocation Where{};
  Where.type = CU_MEM_LOCATION_TYPE_DEVICE;
  Where.id = Device;
  pool(Pool, Where, CU_MEM_ALLOCATION_TYPE_PINNED);
}

void PhysicalMemory::sharedPool(CUmemoryPool Pool) { Pools[Pool].Kind = MemoryKind::Imported; }

void PhysicalMemory::destroyedPool(CUmemoryPool Pool) { Pools.erase(Pool); }

PhysicalMemory::Origin PhysicalMemory::ofPool(CUmemoryPool Pool) const {
  auto At = Pools.find(Pool);
  return At == Pools.end() ? Origin{MemoryKind::Pool} : At->second;
}
