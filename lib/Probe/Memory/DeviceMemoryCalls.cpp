// The effect of each driver call on DeviceMemory. The names of calls and parameters are CUPTI's. Id
// is always the plain form of a call.

#include "Probe/Memory/DeviceMemory.h"

#include "Probe/Memory/DeviceMemoryCalls.h"

using namespace carve::probe;

static CUdeviceptr addressOf(const void *Host) { return reinterpret_cast<CUdeviceptr>(Host); }

void DeviceMemory::note(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  const void *Params = Call.functionParams;
  if (!Params || !rolesOf(Id).any(Calls))
    return;
  Id = plainForm(Id);
  if (Call.callbackSite == CUPTI_API_ENTER) {
    std::lock_guard<std::mutex> Guard(Lock);
    noteEntry(Id, Params);
    return;
  }
  const auto *Result = static_cast<const CUresult *>(Call.functionReturnValue);
  if (!Result || *Result != CUDA_SUCCESS)
    return;
  noteImport(Id, Params, Call.context);
  std::lock_guard<std::mutex> Guard(Lock);
  noteAllocation(Id, Params, Call.context);
  noteHost(Id, Params, Call.context);
  noteExport(Id, Params);
  noteMapping(Id, Params);
  notePool(Id, Params);
  noteState(Id, Params);
}

/// Freed memory is removed at the entry of the call: the driver may give it to another thread
/// before the call returns.
void DeviceMemory::noteEntry(CUpti_CallbackId Id, const void *Params) {
  switch (Id) {
  case CARVE_CALL(cuMemFree_v2): {
    CARVE_PARAMETERS(cuMemFree_v2);
    return remove(P.dptr);
  }
  case CARVE_CALL(cuMemFreeAsync): {
    CARVE_PARAMETERS(cuMemFreeAsync);
    return remove(P.dptr);
  }
  case CARVE_CALL(cuMemUnmap): {
    CARVE_PARAMETERS(cuMemUnmap);
    return removeSpan(P.ptr, P.size);
  }
  case CARVE_CALL(cuMemFreeHost): {
    CARVE_PARAMETERS(cuMemFreeHost);
    return remove(addressOf(P.p));
  }
  case CARVE_CALL(cuMemHostUnregister): {
    CARVE_PARAMETERS(cuMemHostUnregister);
    return remove(addressOf(P.p));
  }
  case CARVE_CALL(cuIpcCloseMemHandle): {
    CARVE_PARAMETERS(cuIpcCloseMemHandle);
    return remove(P.dptr);
  }
  case CARVE_CALL(cuGraphicsUnmapResources): {
    CARVE_PARAMETERS(cuGraphicsUnmapResources);
    for (unsigned I = 0; P.resources && I < P.count; ++I)
      if (auto At = Graphics.find(P.resources[I]); At != Graphics.end())
        remove(At->second), Graphics.erase(At);
    return;
  }
  case CARVE_CALL(cuCtxDestroy):
  case CARVE_CALL(cuCtxDestroy_v2): {
    CARVE_PARAMETERS(cuCtxDestroy_v2);
    return drop(P.ctx);
  }
  case CARVE_CALL(cuDevicePrimaryCtxReset):
  case CARVE_CALL(cuDevicePrimaryCtxReset_v2): {
    CARVE_PARAMETERS(cuDevicePrimaryCtxReset_v2);
    if (auto At = Primaries.find(P.dev); At != Primaries.end())
      drop(At->second);
    return;
  }
  default:
    return;
  }
}

void DeviceMemory::noteAllocation(CUpti_CallbackId Id, const void *Params, CUcontext Context) {
  switch (Id) {
  case CARVE_CALL(cuMemAlloc_v2): {
    CARVE_PARAMETERS(cuMemAlloc_v2);
    return add(*P.dptr, {P.bytesize, MemoryKind::Device, Context});
  }
  case CARVE_CALL(cuMemAllocPitch_v2): {
    CARVE_PARAMETERS(cuMemAllocPitch_v2);
    return add(*P.dptr, {*P.pPitch * P.Height, MemoryKind::Device, Context});
  }
  case CARVE_CALL(cuMemAllocManaged): {
    CARVE_PARAMETERS(cuMemAllocManaged);
    return add(*P.dptr, {P.bytesize, MemoryKind::Managed, Context});
  }
  case CARVE_CALL(cuMemAllocAsync): {
    CARVE_PARAMETERS(cuMemAllocAsync);
    return addAsync(*P.dptr, P.bytesize, MemoryKind::Pool, Context);
  }
  case CARVE_CALL(cuMemAllocFromPoolAsync): {
    CARVE_PARAMETERS(cuMemAllocFromPoolAsync);
    return addAsync(*P.dptr, P.bytesize, Physical.ofPool(P.pool).Kind, Context);
  }
  case CARVE_CALL(cuGraphAddMemAllocNode): {
    CARVE_PARAMETERS(cuGraphAddMemAllocNode);
    return add(P.nodeParams->dptr, {P.nodeParams->bytesize, MemoryKind::Imported, Context});
  }
  case CARVE_CALL(cuGraphAddNode): {
    CARVE_PARAMETERS(cuGraphAddNode);
    if (P.nodeParams->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
      add(P.nodeParams->alloc.dptr, {P.nodeParams->alloc.bytesize, MemoryKind::Imported, Context});
    return;
  }
  case CARVE_CALL(cuGraphAddNode_v2): {
    CARVE_PARAMETERS(cuGraphAddNode_v2);
    if (P.nodeParams->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
      add(P.nodeParams->alloc.dptr, {P.nodeParams->alloc.bytesize, MemoryKind::Imported, Context});
    return;
  }
  default:
    return;
  }
}

void DeviceMemory::noteHost(CUpti_CallbackId Id, const void *Params, CUcontext Context) {
  switch (Id) {
  case CARVE_CALL(cuMemHostAlloc): {
    CARVE_PARAMETERS(cuMemHostAlloc);
    return add(addressOf(*P.pp), {P.bytesize, MemoryKind::Host, Context});
  }
  case CARVE_CALL(cuMemAllocHost_v2): {
    CARVE_PARAMETERS(cuMemAllocHost_v2);
    return add(addressOf(*P.pp), {P.bytesize, MemoryKind::Host, Context});
  }
  case CARVE_CALL(cuMemHostRegister):
  case CARVE_CALL(cuMemHostRegister_v2): {
    CARVE_PARAMETERS(cuMemHostRegister_v2);
    // Memory that another device maps must not be read without need.
    bool IsDevice = P.Flags & CU_MEMHOSTREGISTER_IOMEMORY;
    return add(addressOf(P.p),
               {P.bytesize, IsDevice ? MemoryKind::Imported : MemoryKind::Host, Context});
  }
  default:
    return;
  }
}

/// Returns how many bytes another process has allocated at an address; 1 if that is unknown.
static size_t importedBytes(const DriverApi *Driver, CUdeviceptr Address) {
  CUdeviceptr Base = 0;
  size_t Bytes = 0;
  if (Driver && Driver->MemGetAddressRange &&
      Driver->MemGetAddressRange(&Base, &Bytes, Address) == CUDA_SUCCESS && Address - Base < Bytes)
    return Bytes - (Address - Base);
  return 1;
}

void DeviceMemory::addImported(CUdeviceptr Base, size_t Bytes, CUcontext Context) {
  // The driver is asked without the lock, which must not be held across its calls.
  if (Bytes == 0)
    Bytes = importedBytes(Driver, Base);
  std::lock_guard<std::mutex> Guard(Lock);
  add(Base, {Bytes, MemoryKind::Imported, Context});
}

void DeviceMemory::noteImport(CUpti_CallbackId Id, const void *Params, CUcontext Context) {
  switch (Id) {
  case CARVE_CALL(cuIpcOpenMemHandle):
  case CARVE_CALL(cuIpcOpenMemHandle_v2): {
    CARVE_PARAMETERS(cuIpcOpenMemHandle_v2);
    return addImported(*P.pdptr, 0, Context);
  }
  case CARVE_CALL(cuMemPoolImportPointer): {
    CARVE_PARAMETERS(cuMemPoolImportPointer);
    return addImported(*P.ptr_out, 0, Context);
  }
  case CARVE_CALL(cuExternalMemoryGetMappedBuffer): {
    CARVE_PARAMETERS(cuExternalMemoryGetMappedBuffer);
    return addImported(*P.devPtr, P.bufferDesc->size, Context);
  }
  case CARVE_CALL(cuGraphicsResourceGetMappedPointer_v2): {
    CARVE_PARAMETERS(cuGraphicsResourceGetMappedPointer_v2);
    addImported(*P.pDevPtr, P.pSize ? *P.pSize : 0, Context);
    std::lock_guard<std::mutex> Guard(Lock);
    Graphics[P.resource] = *P.pDevPtr;
    return;
  }
  default:
    return;
  }
}

void DeviceMemory::noteState(CUpti_CallbackId Id, const void *Params) {
  switch (Id) {
  case CARVE_CALL(cuSurfObjectCreate): {
    CARVE_PARAMETERS(cuSurfObjectCreate);
    Surfaces.insert(*P.pSurfObject);
    return;
  }
  case CARVE_CALL(cuSurfObjectDestroy): {
    CARVE_PARAMETERS(cuSurfObjectDestroy);
    Surfaces.erase(P.surfObject);
    return;
  }
  case CARVE_CALL(cuSurfRefSetArray):
    SurfaceReferences = true;
    return;
  case CARVE_CALL(cuCtxEnablePeerAccess):
    Peers = true;
    return;
  case CARVE_CALL(cuDevicePrimaryCtxRetain): {
    CARVE_PARAMETERS(cuDevicePrimaryCtxRetain);
    Primaries[P.dev] = *P.pctx;
    return;
  }
  default:
    return;
  }
}
