#include "Probe/Driver/Hazards.h"

#include <algorithm>
#include <iterator>

using namespace carve::probe;

namespace {
struct HazardCall {
  CUpti_CallbackId Id;
  const char *Kind;
  /// Whether the parameters make it one; null: they always do.
  bool (*When)(const void *Params);
};
} // namespace

/// Host memory of which kernels are meant to have the address.
template <class Params, unsigned Mapped> static bool maps(const void *Data) {
  return static_cast<const Params *>(Data)->Flags & Mapped;
}

static bool isOnHost(const CUmemLocation &Location) {
  return Location.type == CU_MEM_LOCATION_TYPE_HOST ||
         Location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
         Location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

static bool createsOnHost(const void *Data) {
  const CUmemAllocationProp *Properties = static_cast<const cuMemCreate_params *>(Data)->prop;
  return Properties && isOnHost(Properties->location);
}

static bool poolsOnHost(const void *Data) {
  const CUmemPoolProps *Properties = static_cast<const cuMemPoolCreate_params *>(Data)->poolProps;
  return Properties && isOnHost(Properties->location);
}

static bool poolsManaged(const void *Data) {
  const CUmemPoolProps *Properties = static_cast<const cuMemPoolCreate_params *>(Data)->poolProps;
  return Properties && Properties->allocType == CU_MEM_ALLOCATION_TYPE_MANAGED;
}

/// Mapped memory always names the device that is to use it; a second one makes them peers.
static bool opensToSeveral(const void *Data) {
  auto *Params = static_cast<const cuMemSetAccess_params *>(Data);
  return Params->desc && Params->count > 1;
}

/// What is registered with a network card by its kernel module alone needs this, and is seen by it:
/// the card may write there at any time.
static bool opensToCards(const void *Data) {
  auto *Params = static_cast<const cuPointerSetAttribute_params *>(Data);
  return Params->attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS;
}

/// Arrays that kernels can write.
static bool isSurface(const CUDA_ARRAY3D_DESCRIPTOR *Array) {
  return Array && Array->Flags & CUDA_ARRAY3D_SURFACE_LDST;
}
static bool createsSurface(const void *Data) {
  return isSurface(static_cast<const cuArray3DCreate_v2_params *>(Data)->pAllocateArray);
}
static bool createsSurfaces(const void *Data) {
  return isSurface(static_cast<const cuMipmappedArrayCreate_params *>(Data)->pMipmappedArrayDesc);
}

#define CARVE_CALL(Call, Kind, When)                                                               \
  HazardCall { CUPTI_DRIVER_TRACE_CBID_##Call, Kind, When }
static constexpr HazardCall Calls[] = {
    CARVE_CALL(cuMemAllocManaged, "managed", nullptr),
    CARVE_CALL(cuLibraryGetManaged, "managed", nullptr),
    CARVE_CALL(cuMemPoolCreate, "managed", poolsManaged),
    CARVE_CALL(cuMemHostAlloc, "host-mapped",
               (maps<cuMemHostAlloc_params, CU_MEMHOSTALLOC_DEVICEMAP>)),
    CARVE_CALL(cuMemHostAlloc_v2, "host-mapped",
               (maps<cuMemHostAlloc_params, CU_MEMHOSTALLOC_DEVICEMAP>)),
    CARVE_CALL(cuMemHostRegister, "host-mapped",
               (maps<cuMemHostRegister_params, CU_MEMHOSTREGISTER_DEVICEMAP>)),
    CARVE_CALL(cuMemHostRegister_v2, "host-mapped",
               (maps<cuMemHostRegister_v2_params, CU_MEMHOSTREGISTER_DEVICEMAP>)),
    CARVE_CALL(cuMemHostGetDevicePointer, "host-mapped", nullptr),
    CARVE_CALL(cuMemHostGetDevicePointer_v2, "host-mapped", nullptr),
    CARVE_CALL(cuMemCreate, "host-mapped", createsOnHost),
    CARVE_CALL(cuMemPoolCreate, "host-mapped", poolsOnHost),
    CARVE_CALL(cuIpcGetMemHandle, "ipc", nullptr),
    CARVE_CALL(cuIpcOpenMemHandle, "ipc", nullptr),
    CARVE_CALL(cuIpcOpenMemHandle_v2, "ipc", nullptr),
    CARVE_CALL(cuMemExportToShareableHandle, "ipc", nullptr),
    CARVE_CALL(cuMemImportFromShareableHandle, "ipc", nullptr),
    CARVE_CALL(cuMemPoolExportToShareableHandle, "ipc", nullptr),
    CARVE_CALL(cuMemPoolImportFromShareableHandle, "ipc", nullptr),
    CARVE_CALL(cuMemPoolExportPointer, "ipc", nullptr),
    CARVE_CALL(cuMemPoolImportPointer, "ipc", nullptr),
    CARVE_CALL(cuImportExternalMemory, "ipc", nullptr),
    // For devices of other makers, as network cards.
    CARVE_CALL(cuMemGetHandleForAddressRange, "ipc", nullptr),
    CARVE_CALL(cuPointerSetAttribute, "ipc", opensToCards),
    CARVE_CALL(cuGraphicsMapResources, "ipc", nullptr),
    CARVE_CALL(cuGraphicsMapResources_ptsz, "ipc", nullptr),
    CARVE_CALL(cuCtxEnablePeerAccess, "peer", nullptr),
    CARVE_CALL(cuMemPoolSetAccess, "peer", nullptr),
    CARVE_CALL(cuMemSetAccess, "peer", opensToSeveral),
    CARVE_CALL(cuMulticastCreate, "peer", nullptr),
    CARVE_CALL(cuStreamBeginCapture, "capture", nullptr),
    CARVE_CALL(cuStreamBeginCapture_ptsz, "capture", nullptr),
    CARVE_CALL(cuStreamBeginCapture_v2, "capture", nullptr),
    CARVE_CALL(cuStreamBeginCapture_v2_ptsz, "capture", nullptr),
    CARVE_CALL(cuStreamBeginCaptureToGraph, "capture", nullptr),
    CARVE_CALL(cuStreamBeginCaptureToGraph_ptsz, "capture", nullptr),
    CARVE_CALL(cuArray3DCreate_v2, "array", createsSurface),
    CARVE_CALL(cuMipmappedArrayCreate, "array", createsSurfaces),
};
#undef CARVE_CALL

const char *carve::probe::hazardKind(CUpti_CallbackId Id, const void *Params) {
  for (const HazardCall &Call : Calls)
    if (Call.Id == Id && (!Call.When || (Params && Call.When(Params))))
      return Call.Kind;
  return nullptr;
}

std::vector<CUpti_CallbackId> carve::probe::hazardCallbacks() {
  std::vector<CUpti_CallbackId> Ids;
  std::transform(std::begin(Calls), std::end(Calls), std::back_inserter(Ids),
                 [](const HazardCall &Call) { return Call.Id; });
  return Ids;
}

std::vector<CUpti_CallbackId> carve::probe::attributeCallbacks() {
  return {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz};
}

static bool isProgrammatic(const CUlaunchAttribute &Attribute) {
  switch (Attribute.id) {
  case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    return Attribute.value.programmaticStreamSerializationAllowed != 0;
  case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
  case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
    return true;
  default:
    return false;
  }
}

const void *carve::probe::programmaticKernel(CUpti_CallbackId Id, const void *Params) {
  if (Id != CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx &&
      Id != CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz)
    return nullptr;
  // The parameters of both are alike.
  auto *Launch = static_cast<const cuLaunchKernelEx_params *>(Params);
  if (!Launch->config || !Launch->config->attrs)
    return nullptr;
  const CUlaunchAttribute *Begin = Launch->config->attrs;
  return std::any_of(Begin, Begin + Launch->config->numAttrs, isProgrammatic) ? Launch->f : nullptr;
}
