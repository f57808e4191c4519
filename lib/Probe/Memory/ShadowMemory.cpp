#include "Probe/Memory/ShadowMemory.h"

#include "Probe/Process/HostMemory.h"

#include <algorithm>
#include <new>

using namespace carve::probe;

/// Smaller slabs are not worth the calls that they need.
static constexpr size_t LeastSlabBytes = size_t(1) << 20;
/// If there are more slabs than this, they are replaced by one large slab.
static constexpr size_t MostSlabs = 8;

void ShadowMemory::rewind() {
  CUdevice Current = 0;
  (void)Driver.CtxGetDevice(&Current);
  if (Current != Device || Slabs.size() > MostSlabs)
    release();
  Device = Current;
  settle();
  for (Slab &S : Slabs)
    S.Used = 0;
}

void ShadowMemory::settle() {
  HostParts.clear();
  HostBytes = 0;
  std::erase_if(Slabs, [&](const Slab &S) { return !S.Mapped && freeSlab(S); });
}

bool ShadowMemory::allocateMapped(size_t Bytes, Slab &New) {
  int Supported = 0;
  if (!Driver.MemAddressReserve || !Driver.MemAddressFree || !Driver.MemGetAllocationGranularity ||
      !Driver.MemCreate || !Driver.MemRelease || !Driver.MemMap || !Driver.MemUnmap ||
      !Driver.MemSetAccess ||
      Driver.DeviceGetAttribute(&Supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                                Device) != CUDA_SUCCESS ||
      !Supported)
    return false;
  CUmemAllocationProp Properties{};
  Properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  Properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  Properties.location.id = Device;
  CUmemAccessDesc Access{Properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  size_t Granularity = 0;
  if (Driver.MemGetAllocationGranularity(&Granularity, &Properties,
                                         CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) != CUDA_SUCCESS ||
      Granularity == 0)
    return false;
  Bytes = (Bytes + Granularity - 1) / Granularity * Granularity;
  PhysicalHandle Handle{};
  if (Driver.MemCreate(&Handle, Bytes, &Properties, 0) != CUDA_SUCCESS)
    return false;
  bool Reserved = Driver.MemAddressReserve(&New.Base, Bytes, 0, 0, 0) == CUDA_SUCCESS;
  bool Mapped = Reserved && Driver.MemMap(New.Base, Bytes, 0, Handle, 0) == CUDA_SUCCESS;
  // Once mapped, the memory lives as long as its mapping.
  (void)Driver.MemRelease(Handle);
  New.Bytes = Bytes;
  New.Mapped = true;
  if (Mapped && Driver.MemSetAccess(New.Base, Bytes, &Access, 1) == CUDA_SUCCESS)
    return true;
  if (Mapped)
    (void)Driver.MemUnmap(New.Base, Bytes);
  if (Reserved)
    (void)Driver.MemAddressFree(New.Base, Bytes);
  return false;
}

bool ShadowMemory::allocate(size_t Bytes) {
  Slab New;
  if (!allocateMapped(Bytes, New)) {
    New = Slab();
    New.Bytes = Bytes;
    if (Driver.MemAlloc(&New.Base, Bytes) != CUDA_SUCCESS)
      return false;
  }
  Slabs.push_back(New);
  return true;
}

bool ShadowMemory::freeSlab(const Slab &Old) {
  if (!Old.Mapped)
    return Driver.MemFree(Old.Base) == CUDA_SUCCESS;
  return Driver.MemUnmap(Old.Base, Old.Bytes) == CUDA_SUCCESS &&
         Driver.MemAddressFree(Old.Base, Old.Bytes) == CUDA_SUCCESS;
}

bool ShadowMemory::expect(size_t Bytes, size_t Chunk, size_t ReserveBytes) {
  size_t Room = 0;
  for (const Slab &S : Slabs) {
    // Taking a part of a slab leaves a rest of less than a chunk.
    size_t Left = S.Bytes - S.Used;
    Room += Left > Chunk + Alignment ? Left - Chunk - Alignment : 0;
  }
  if (Bytes <= Room)
    return true;
  size_t Free = 0, Total = 0;
  if (Driver.MemGetInfo(&Free, &Total) != CUDA_SUCCESS)
    return false;
  size_t Reserve = std::min(ReserveBytes, Total / 16);
  size_t Budget = Free > Reserve ? Free - Reserve : 0;
  size_t Wanted = std::max(Bytes - Room + Chunk + Alignment, LeastSlabBytes);
  // Free memory may be fragmented, and another process may take it at the same time.
  for (size_t Next = std::min(Wanted, Budget); Next > 0; Next /= 2) {
    if (allocate(Next))
      return Next == Wanted;
    if (Next < LeastSlabBytes)
      break;
  }
  return false;
}

size_t ShadowMemory::gapFor(const Slab &From, CUdeviceptr Like) {
  return (Like - (From.Base + From.Used)) % Alignment;
}

CUdeviceptr ShadowMemory::take(size_t Bytes, CUdeviceptr Like) {
  for (Slab &S : Slabs) {
    size_t Gap = gapFor(S, Like);
    if (S.Bytes - S.Used < Gap || S.Bytes - S.Used - Gap < Bytes)
      continue;
    CUdeviceptr Place = S.Base + S.Used + Gap;
    S.Used += Gap + Bytes;
    return Place;
  }
  return 0;
}

CUdeviceptr ShadowMemory::takeLittle(size_t Bytes) {
  if (CUdeviceptr Place = take(Bytes))
    return Place;
  return allocate(std::max(Bytes, LeastSlabBytes)) || allocate(Bytes) ? take(Bytes) : 0;
}

ShadowMemory::Part ShadowMemory::takeSome(size_t Bytes, size_t Chunk, CUdeviceptr Like) {
  if (CUdeviceptr Place = take(Bytes, Like))
    return {Place, nullptr, Bytes};
  size_t Most = 0;
  for (const Slab &S : Slabs) {
    size_t Gap = gapFor(S, Like), Left = S.Bytes - S.Used;
    Most = std::max(Most, Left > Gap ? (Left - Gap) / Chunk * Chunk : 0);
  }
  if (Most == 0)
    return {};
  Most = std::min(Most, Bytes);
  return {take(Most, Like), nullptr, Most};
}

ShadowMemory::Part ShadowMemory::takeHost(size_t Bytes) {
  size_t Allowed = (availableHostBytes() + HostBytes) / 2;
  Allowed = std::min(Allowed, HostLimit);
  if (Allowed < HostBytes || Allowed - HostBytes < Bytes)
    return {};
  std::unique_ptr<std::byte[]> Memory(new (std::nothrow) std::byte[Bytes]);
  if (!Memory)
    return {};
  HostParts.push_back(std::move(Memory));
  HostBytes += Bytes;
  return {0, HostParts.back().get(), Bytes};
}

void ShadowMemory::release() {
  HostParts.clear();
  HostBytes = 0;
  // A slab that cannot be freed stays in the list and is tried again, because its memory is the
  // probe's.
  std::erase_if(Slabs, [&](const Slab &S) { return freeSlab(S); });
}

size_t ShadowMemory::heldBytes() const {
  size_t Bytes = 0;
  for (const Slab &S : Slabs)
    Bytes += S.Bytes;
  return Bytes;
}
