#include "Probe/Memory/DeviceMemory.h"

#include "Probe/Memory/DeviceMemoryCalls.h"

#include <iterator>

using namespace carve::probe;

const char *carve::probe::describeShared(MemoryKind Kind) {
  if (Kind == MemoryKind::Managed)
    return "managed memory";
  return Kind == MemoryKind::Host ? "host memory" : "memory that is not this context's alone";
}

// The entries of DeviceMemory. Entries never overlap: a new entry replaces what it covers, because
// the end of that memory was missed.

void DeviceMemory::cut(CUdeviceptr At) {
  auto Next = Ranges.upper_bound(At);
  if (Next == Ranges.begin())
    return;
  auto &[Base, Whole] = *std::prev(Next);
  if (At == Base || At - Base >= Whole.Bytes)
    return;
  Entry Rest = Whole;
  Rest.Bytes -= At - Base;
  Whole.Bytes = At - Base;
  Ranges.emplace_hint(Next, At, Rest);
}

void DeviceMemory::removeSpan(CUdeviceptr Base, size_t Bytes) {
  cut(Base);
  cut(Base + Bytes);
  Ranges.erase(Ranges.lower_bound(Base), Ranges.lower_bound(Base + Bytes));
}

void DeviceMemory::add(CUdeviceptr Base, const Entry &New) {
  if (!Base || New.Bytes == 0)
    return;
  removeSpan(Base, New.Bytes);
  Ranges[Base] = New;
}

void DeviceMemory::addAsync(CUdeviceptr Base, size_t Bytes, MemoryKind Kind, CUcontext Context) {
  // During a capture the call makes a node of a graph, and the memory does not exist until the
  // graph runs.
  add(Base, {Bytes, Captures.any() ? MemoryKind::Imported : Kind, Context});
}

DeviceMemory::Entries::const_iterator DeviceMemory::entryAt(CUdeviceptr Address) const {
  auto Next = Ranges.upper_bound(Address);
  if (Next == Ranges.begin())
    return Ranges.end();
  auto At = std::prev(Next);
  return Address - At->first < At->second.Bytes ? At : Ranges.end();
}

void DeviceMemory::share(CUdeviceptr Address) {
  auto At = entryAt(Address);
  if (At != Ranges.end())
    Ranges[At->first].Kind = MemoryKind::Imported;
}

void DeviceMemory::shareMappings(PhysicalHandle Handle) {
  Physical.shared(Handle);
  for (auto &[Base, Range] : Ranges)
    if (Range.Handle == Handle && !Range.Context)
      Range.Kind = MemoryKind::Imported;
}

void DeviceMemory::drop(CUcontext Context) {
  if (Context)
    std::erase_if(Ranges, [&](const auto &Range) { return Range.second.Context == Context; });
}

void DeviceMemory::dropContext(CUcontext Context) {
  std::lock_guard<std::mutex> Guard(Lock);
  drop(Context);
}

MemoryRange DeviceMemory::rangeOf(const Entries::value_type &Entry) {
  return {Entry.first, Entry.second.Bytes, Entry.second.Kind, Entry.second.Context,
          Entry.second.Owner};
}

std::vector<MemoryRange> DeviceMemory::ranges() const {
  std::lock_guard<std::mutex> Guard(Lock);
  std::vector<MemoryRange> All;
  for (const auto &Range : Ranges)
    if (Range.second.Writable)
      All.push_back(rangeOf(Range));
  return All;
}

std::optional<MemoryRange> DeviceMemory::find(CUdeviceptr Address) const {
  std::lock_guard<std::mutex> Guard(Lock);
  auto At = entryAt(Address);
  if (At == Ranges.end() || !At->second.Writable)
    return std::nullopt;
  return rangeOf(*At);
}

bool DeviceMemory::surfaces() const {
  std::lock_guard<std::mutex> Guard(Lock);
  return SurfaceReferences || !Surfaces.empty();
}

bool DeviceMemory::peers() const {
  std::lock_guard<std::mutex> Guard(Lock);
  return Peers;
}

// The effects of driver calls that map memory or let others reach it: exports, mappings and pools.

void DeviceMemory::noteExport(CUpti_CallbackId Id, const void *Params) {
  switch (Id) {
  case CARVE_CALL(cuIpcGetMemHandle): {
    CARVE_PARAMETERS(cuIpcGetMemHandle);
    return share(P.dptr);
  }
  case CARVE_CALL(cuMemPoolExportPointer): {
    CARVE_PARAMETERS(cuMemPoolExportPointer);
    return share(P.ptr);
  }
  case CARVE_CALL(cuMemGetHandleForAddressRange): {
    CARVE_PARAMETERS(cuMemGetHandleForAddressRange);
    for (CUdeviceptr At = P.dptr; At - P.dptr < P.size;) {
      auto Found = Ranges.upper_bound(At);
      share(At);
      At = Found == Ranges.end() ? P.dptr + P.size : Found->first;
    }
    return;
  }
  case CARVE_CALL(cuPointerSetAttribute): {
    CARVE_PARAMETERS(cuPointerSetAttribute);
    // A program sets this attribute before it gives the address to a network card. No other call
    // tells of that.
    if (P.attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
      share(P.ptr);
    return;
  }
  case CARVE_CALL(cuMemExportToShareableHandle): {
    CARVE_PARAMETERS(cuMemExportToShareableHandle);
    return shareMappings(P.handle);
  }
  case CARVE_CALL(cuMemImportFromShareableHandle): {
    CARVE_PARAMETERS(cuMemImportFromShareableHandle);
    return shareMappings(*P.handle);
  }
  case CARVE_CALL(cuMulticastCreate): {
    CARVE_PARAMETERS(cuMulticastCreate);
    Peers = true;
    return shareMappings(*P.mcHandle);
  }
  default:
    return;
  }
}

void DeviceMemory::setAccess(CUdeviceptr Base, size_t Bytes, const CUmemAccessDesc &Access) {
  bool Writes = Access.flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  bool Any = Access.flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
  cut(Base);
  cut(Base + Bytes);
  for (auto At = Ranges.lower_bound(Base), End = Ranges.lower_bound(Base + Bytes); At != End;
       ++At) {
    Entry &Range = At->second;
    if (Access.location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
      // The host may touch the memory at any time.
      Range.Kind = Any && Range.Kind == MemoryKind::Mapped ? MemoryKind::Imported : Range.Kind;
    } else if (Range.Owner >= 0 && Range.Owner != Access.location.id) {
      Peers |= Any;
    } else {
      Range.Writable = Writes;
    }
  }
}

void DeviceMemory::noteMapping(CUpti_CallbackId Id, const void *Params) {
  switch (Id) {
  case CARVE_CALL(cuMemCreate): {
    CARVE_PARAMETERS(cuMemCreate);
    return Physical.created(*P.handle, *P.prop);
  }
  case CARVE_CALL(cuMemRetainAllocationHandle): {
    CARVE_PARAMETERS(cuMemRetainAllocationHandle);
    auto At = entryAt(reinterpret_cast<CUdeviceptr>(P.addr));
    if (At == Ranges.end())
      return;
    Entry &Range = Ranges[At->first];
    Range.Handle = *P.handle;
    return Physical.retained(*P.handle, {Range.Kind, Range.Owner});
  }
  case CARVE_CALL(cuMemRelease): {
    CARVE_PARAMETERS(cuMemRelease);
    return Physical.released(P.handle);
  }
  case CARVE_CALL(cuMemMap): {
    CARVE_PARAMETERS(cuMemMap);
    PhysicalMemory::Origin From = Physical.of(P.handle);
    return add(P.ptr, {P.size, From.Kind, nullptr, P.handle, From.Device, false});
  }
  case CARVE_CALL(cuMemSetAccess): {
    CARVE_PARAMETERS(cuMemSetAccess);
    for (size_t I = 0; P.desc && I < P.count; ++I)
      setAccess(P.ptr, P.size, P.desc[I]);
    return;
  }
  default:
    return;
  }
}

void DeviceMemory::notePool(CUpti_CallbackId Id, const void *Params) {
  switch (Id) {
  case CARVE_CALL(cuMemPoolCreate): {
    CARVE_PARAMETERS(cuMemPoolCreate);
    Physical.destroyedPool(*P.pool);
    return Physical.pool(*P.pool, P.poolProps->location, P.poolProps->allocType);
  }
  case CARVE_CALL(cuMemPoolDestroy): {
    CARVE_PARAMETERS(cuMemPoolDestroy);
    return Physical.destroyedPool(P.pool);
  }
  case CARVE_CALL(cuMemPoolImportFromShareableHandle): {
    CARVE_PARAMETERS(cuMemPoolImportFromShareableHandle);
    return Physical.sharedPool(*P.pool_out);
  }
  case CARVE_CALL(cuDeviceGetDefaultMemPool): {
    CARVE_PARAMETERS(cuDeviceGetDefaultMemPool);
    return Physical.devicePool(*P.pool_out, P.dev);
  }
  case CARVE_CALL(cuDeviceGetMemPool): {
    CARVE_PARAMETERS(cuDeviceGetMemPool);
    return Physical.devicePool(*P.pool, P.dev);
  }
  case CARVE_CALL(cuMemGetDefaultMemPool): {
    CARVE_PARAMETERS(cuMemGetDefaultMemPool);
    return Physical.pool(*P.pool_out, *P.location, P.type);
  }
  case CARVE_CALL(cuMemGetMemPool): {
    CARVE_PARAMETERS(cuMemGetMemPool);
    return Physical.pool(*P.pool, *P.location, P.type);
  }
  case CARVE_CALL(cuMemPoolSetAccess): {
    CARVE_PARAMETERS(cuMemPoolSetAccess);
    int Owner = Physical.ofPool(P.pool).Device;
    for (size_t I = 0; P.map && I < P.count; ++I)
      Peers |=
          P.map[I].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
          (P.map[I].location.type != CU_MEM_LOCATION_TYPE_DEVICE || P.map[I].location.id != Owner);
    return;
  }
  default:
    return;
  }
}
