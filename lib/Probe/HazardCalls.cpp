#include "Probe/HazardCalls.h"

#include <algorithm>
#include <iterator>

using namespace carve::probe;

namespace {
struct HazardCall {
  CUpti_CallbackId Id;
  const char *Kind;
};
} // namespace

#define CARVE_CALL(Call, Kind)                                                                     \
  HazardCall { CUPTI_DRIVER_TRACE_CBID_##Call, Kind }
static constexpr HazardCall Calls[] = {
    CARVE_CALL(cuMemAllocManaged, "managed"),
    CARVE_CALL(cuMemHostAlloc, "host-mapped"),
    CARVE_CALL(cuMemHostAlloc_v2, "host-mapped"),
    CARVE_CALL(cuMemAllocHost, "host-mapped"),
    CARVE_CALL(cuMemAllocHost_v2, "host-mapped"),
    CARVE_CALL(cuMemHostRegister, "host-mapped"),
    CARVE_CALL(cuMemHostRegister_v2, "host-mapped"),
    CARVE_CALL(cuMemHostGetDevicePointer, "host-mapped"),
    CARVE_CALL(cuMemHostGetDevicePointer_v2, "host-mapped"),
    CARVE_CALL(cuIpcGetMemHandle, "ipc"),
    CARVE_CALL(cuIpcOpenMemHandle, "ipc"),
    CARVE_CALL(cuIpcOpenMemHandle_v2, "ipc"),
    CARVE_CALL(cuIpcGetEventHandle, "ipc"),
    CARVE_CALL(cuIpcOpenEventHandle, "ipc"),
    CARVE_CALL(cuMemExportToShareableHandle, "ipc"),
    CARVE_CALL(cuMemImportFromShareableHandle, "ipc"),
    CARVE_CALL(cuMemPoolExportToShareableHandle, "ipc"),
    CARVE_CALL(cuMemPoolImportFromShareableHandle, "ipc"),
    CARVE_CALL(cuMemPoolExportPointer, "ipc"),
    CARVE_CALL(cuMemPoolImportPointer, "ipc"),
    CARVE_CALL(cuImportExternalMemory, "ipc"),
    CARVE_CALL(cuImportExternalSemaphore, "ipc"),
    CARVE_CALL(cuGraphicsMapResources, "ipc"),
    CARVE_CALL(cuGraphicsMapResources_ptsz, "ipc"),
    CARVE_CALL(cuCtxEnablePeerAccess, "peer"),
    CARVE_CALL(cuMemPoolSetAccess, "peer"),
    CARVE_CALL(cuMulticastCreate, "peer"),
    CARVE_CALL(cuMemcpyPeer, "peer"),
    CARVE_CALL(cuMemcpyPeer_ptds, "peer"),
    CARVE_CALL(cuMemcpyPeerAsync, "peer"),
    CARVE_CALL(cuMemcpyPeerAsync_ptsz, "peer"),
    CARVE_CALL(cuMemcpy3DPeer, "peer"),
    CARVE_CALL(cuMemcpy3DPeer_ptds, "peer"),
    CARVE_CALL(cuMemcpy3DPeerAsync, "peer"),
    CARVE_CALL(cuMemcpy3DPeerAsync_ptsz, "peer"),
    CARVE_CALL(cuStreamBeginCapture, "capture"),
    CARVE_CALL(cuStreamBeginCapture_ptsz, "capture"),
    CARVE_CALL(cuStreamBeginCapture_v2, "capture"),
    CARVE_CALL(cuStreamBeginCapture_v2_ptsz, "capture"),
    CARVE_CALL(cuStreamBeginCaptureToGraph, "capture"),
    CARVE_CALL(cuStreamBeginCaptureToGraph_ptsz, "capture"),
    CARVE_CALL(cuSurfObjectCreate, "array"),
    CARVE_CALL(cuSurfRefSetArray, "array"),
};
#undef CARVE_CALL

const char *carve::probe::hazardOf(CUpti_CallbackId Id) {
  for (const HazardCall &Call : Calls)
    if (Call.Id == Id)
      return Call.Kind;
  return nullptr;
}

std::vector<CUpti_CallbackId> carve::probe::hazardCalls() {
  std::vector<CUpti_CallbackId> Ids;
  std::transform(std::begin(Calls), std::end(Calls), std::back_inserter(Ids),
                 [](const HazardCall &Call) { return Call.Id; });
  return Ids;
}
