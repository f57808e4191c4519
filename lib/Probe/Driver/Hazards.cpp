#include "Probe/Driver/Hazards.h"

#include <algorithm>

using namespace carve;
using namespace carve::probe;

/// Returns whether the call makes the address of host memory known to kernels.
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

/// Returns whether the call opens memory to more than one device. Mapped memory always names the
/// device that uses it; a second one makes the devices peers.
static bool opensToSeveral(const void *Data) {
  auto *Params = static_cast<const cuMemSetAccess_params *>(Data);
  return Params->desc && Params->count > 1;
}

/// Returns whether the call opens memory to network cards. Memory that only a card's kernel module
/// registers needs this attribute, which is how the probe sees it. The card may write there at any
/// time.
static bool opensToCards(const void *Data) {
  auto *Params = static_cast<const cuPointerSetAttribute_params *>(Data);
  return Params->attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS;
}

/// Returns whether \p Array is an array that kernels can write.
static bool isSurface(const CUDA_ARRAY3D_DESCRIPTOR *Array) {
  return Array && Array->Flags & CUDA_ARRAY3D_SURFACE_LDST;
}
static bool createsSurface(const void *Data) {
  return isSurface(static_cast<const cuArray3DCreate_v2_params *>(Data)->pAllocateArray);
}
static bool createsSurfaces(const void *Data) {
  return isSurface(static_cast<const cuMipmappedArrayCreate_params *>(Data)->pMipmappedArrayDesc);
}

#define CARVE_CALL(Call) CUPTI_DRIVER_TRACE_CBID_##Call

/// Returns whether the parameters make the call a hazard of \p Kind, which its roles allow it to
/// be. Most calls are hazards with any parameters.
static bool isHazard(CUpti_CallbackId Plain, Role Kind, const void *Params) {
  switch (Plain) {
  case CARVE_CALL(cuMemHostAlloc):
    return Params && maps<cuMemHostAlloc_params, CU_MEMHOSTALLOC_DEVICEMAP>(Params);
  case CARVE_CALL(cuMemHostRegister):
    return Params && maps<cuMemHostRegister_params, CU_MEMHOSTREGISTER_DEVICEMAP>(Params);
  case CARVE_CALL(cuMemHostRegister_v2):
    return Params && maps<cuMemHostRegister_v2_params, CU_MEMHOSTREGISTER_DEVICEMAP>(Params);
  case CARVE_CALL(cuMemCreate):
    return Params && createsOnHost(Params);
  case CARVE_CALL(cuMemPoolCreate):
    return Params && (Kind == Role::HazardManaged ? poolsManaged(Params) : poolsOnHost(Params));
  case CARVE_CALL(cuMemSetAccess):
    return Params && opensToSeveral(Params);
  case CARVE_CALL(cuPointerSetAttribute):
    return Params && opensToCards(Params);
  case CARVE_CALL(cuArray3DCreate_v2):
    return Params && createsSurface(Params);
  case CARVE_CALL(cuMipmappedArrayCreate):
    return Params && createsSurfaces(Params);
  default:
    return true;
  }
}
#undef CARVE_CALL

static constexpr std::pair<Role, HazardKind> Kinds[] = {
    {Role::HazardManaged, HazardKind::Managed}, {Role::HazardHost, HazardKind::HostMapped},
    {Role::HazardIpc, HazardKind::Ipc},         {Role::HazardPeer, HazardKind::Peer},
    {Role::BeginsCapture, HazardKind::Capture}, {Role::HazardArray, HazardKind::Array},
};

std::optional<HazardKind> carve::probe::hazardKind(CUpti_CallbackId Id, const void *Params) {
  Roles Means = rolesOf(Id);
  if (!Means.any(HazardCalls))
    return std::nullopt;
  for (auto [Kind, Hazard] : Kinds)
    if (Means.any(Kind) && isHazard(plainForm(Id), Kind, Params))
      return Hazard;
  return std::nullopt;
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
  if (plainForm(Id) != callOf<Role::LaunchAttributes>(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx))
    return nullptr;
  auto *Launch = static_cast<const cuLaunchKernelEx_params *>(Params);
  if (!Launch->config || !Launch->config->attrs)
    return nullptr;
  const CUlaunchAttribute *Begin = Launch->config->attrs;
  return std::any_of(Begin, Begin + Launch->config->numAttrs, isProgrammatic) ? Launch->f : nullptr;
}
