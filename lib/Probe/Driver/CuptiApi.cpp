#include "Probe/Driver/CuptiApi.h"

#include <dlfcn.h>

using namespace carve;
using namespace carve::probe;

/// Version 19 is CUDA 12.0, the first one whose kernel records have clusters and 64-bit local
/// memory. Later records (CUpti_ActivityKernel9, and 10 in CUDA 13) only add fields after the ones
/// that the probe reads, so one struct reads them all.
static constexpr uint32_t OldestVersion = 19;

static constexpr const char *Sonames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};

static void *openCupti(const char *Path) {
  for (const char *Name : Sonames)
    if (void *Handle = ::dlopen(Name, RTLD_LAZY | RTLD_NOLOAD))
      return Handle;
  if (Path && *Path)
    if (void *Handle = ::dlopen(Path, RTLD_LAZY | RTLD_LOCAL))
      return Handle;
  for (const char *Name : Sonames)
    if (void *Handle = ::dlopen(Name, RTLD_LAZY | RTLD_LOCAL))
      return Handle;
  return nullptr;
}

template <class Function> static bool resolve(void *Handle, const char *Name, Function &Out) {
  Out = reinterpret_cast<Function>(::dlsym(Handle, Name));
  return Out != nullptr;
}

Failure CuptiApi::load(const char *Path) {
  void *Handle = openCupti(Path);
  if (!Handle)
    return Failure("cupti-not-found");
  bool Complete = resolve(Handle, "cuptiGetVersion", GetVersion) &&
                  resolve(Handle, "cuptiSubscribe", Subscribe) &&
                  resolve(Handle, "cuptiUnsubscribe", Unsubscribe) &&
                  resolve(Handle, "cuptiEnableCallback", EnableCallback) &&
                  resolve(Handle, "cuptiGetDeviceId", GetDeviceId) &&
                  resolve(Handle, "cuptiActivityRegisterCallbacks", RegisterCallbacks) &&
                  resolve(Handle, "cuptiActivityEnable", Enable) &&
                  resolve(Handle, "cuptiActivityFlushAll", FlushAll) &&
                  resolve(Handle, "cuptiActivityGetNextRecord", GetNextRecord) &&
                  resolve(Handle, "cuptiActivityGetNumDroppedRecords", GetNumDroppedRecords);
  if (!Complete)
    return Failure("cupti-incomplete");
  Library = Handle;
  (void)resolve(Handle, "cuptiGetContextId", GetContextId);
  (void)resolve(Handle, "cuptiGetStreamIdEx", GetStreamIdEx);
  (void)resolve(Handle, "cuptiGetCallbackName", GetCallbackName);
  uint32_t Version = 0;
  if (GetVersion(&Version) != CUPTI_SUCCESS || Version < OldestVersion)
    return Failure("cupti-too-old " + std::to_string(Version));
  return Failure::none();
}

void DriverApi::load() {
  void *Handle = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (!Handle)
    return;
  // A function that is missing stays null, and what needs it is not recorded.
  (void)resolve(Handle, "cuDriverGetVersion", DriverGetVersion);
  (void)resolve(Handle, "cuDeviceGet", DeviceGet);
  (void)resolve(Handle, "cuDeviceGetName", DeviceGetName);
  // cuda.h maps the names without a version to these versions.
  (void)resolve(Handle, "cuDeviceGetUuid_v2", DeviceGetUuid);
  (void)resolve(Handle, "cuDeviceTotalMem_v2", DeviceTotalMem);
  (void)resolve(Handle, "cuDeviceGetAttribute", DeviceGetAttribute);
  (void)resolve(Handle, "cuFuncGetName", FuncGetName);
  (void)resolve(Handle, "cuKernelGetName", KernelGetName);
  (void)resolve(Handle, "cuPointerGetAttributes", PointerGetAttributes);
  loadLaunches(Handle);
  loadCopies(Handle);
  loadVariables(Handle);
  loadGraphs(Handle);
}

void DriverApi::loadGraphs(void *Handle) {
  (void)resolve(Handle, "cuGraphGetNodes", GraphGetNodes);
  (void)resolve(Handle, "cuGraphGetEdges", GraphGetEdges);
  (void)resolve(Handle, "cuGraphGetEdges_v2", GraphGetEdgesWithData);
  (void)resolve(Handle, "cuGraphNodeGetType", GraphNodeGetType);
  (void)resolve(Handle, "cuGraphKernelNodeGetParams_v2", GraphKernelNodeGetParams);
  (void)resolve(Handle, "cuGraphKernelNodeGetAttribute", GraphKernelNodeGetAttribute);
  (void)resolve(Handle, "cuGraphMemcpyNodeGetParams", GraphMemcpyNodeGetParams);
  (void)resolve(Handle, "cuGraphMemsetNodeGetParams", GraphMemsetNodeGetParams);
  (void)resolve(Handle, "cuGraphHostNodeGetParams", GraphHostNodeGetParams);
  (void)resolve(Handle, "cuGraphChildGraphNodeGetGraph", GraphChildGraphNodeGetGraph);
  (void)resolve(Handle, "cuGraphEventRecordNodeGetEvent", GraphEventRecordNodeGetEvent);
  (void)resolve(Handle, "cuGraphEventWaitNodeGetEvent", GraphEventWaitNodeGetEvent);
  (void)resolve(Handle, "cuPointerGetAttribute", PointerGetAttribute);
  (void)resolve(Handle, "cuGraphCreate", GraphCreate);
  (void)resolve(Handle, "cuGraphDestroy", GraphDestroy);
  (void)resolve(Handle, "cuGraphExecKernelNodeSetParams_v2", GraphExecKernelNodeSetParams);
  (void)resolve(Handle, "cuGraphInstantiateWithFlags", GraphInstantiate);
  (void)resolve(Handle, "cuGraphExecDestroy", GraphExecDestroy);
  (void)resolve(Handle, "cuStreamGetCtx", StreamGetCtx);
  (void)resolve(Handle, "cuStreamWaitEvent", StreamWaitEvent);
  (void)resolve(Handle, "cuLaunchHostFunc", LaunchHostFunc);
  (void)resolve(Handle, "cuMemcpyAsync", MemcpyAsync);
  (void)resolve(Handle, "cuMemcpy3DAsync_v2", Memcpy3DAsync);
  (void)resolve(Handle, "cuMemsetD16Async", MemsetD16Async);
  (void)resolve(Handle, "cuMemsetD32Async", MemsetD32Async);
  (void)resolve(Handle, "cuMemsetD2D8Async", MemsetD2D8Async);
  (void)resolve(Handle, "cuMemsetD2D16Async", MemsetD2D16Async);
  (void)resolve(Handle, "cuMemsetD2D32Async", MemsetD2D32Async);
}

bool DriverApi::readsGraphs() const {
  return GraphGetNodes && GraphGetEdges && GraphNodeGetType && GraphKernelNodeGetParams &&
         GraphKernelNodeGetAttribute && GraphMemcpyNodeGetParams && GraphMemsetNodeGetParams &&
         GraphHostNodeGetParams && GraphChildGraphNodeGetGraph && GraphEventRecordNodeGetEvent &&
         GraphEventWaitNodeGetEvent && PointerGetAttribute;
}

bool DriverApi::launchesNodes() const {
  return readsGraphs() && LaunchKernelEx && GraphCreate && GraphDestroy && GraphInstantiate &&
         GraphExecDestroy && StreamGetCtx && StreamWaitEvent && StreamIsCapturing && EventCreate &&
         EventDestroy && EventQuery && EventRecord && LaunchHostFunc && MemcpyAsync &&
         Memcpy3DAsync && MemsetD8Async && MemsetD16Async && MemsetD32Async && MemsetD2D8Async &&
         MemsetD2D16Async && MemsetD2D32Async;
}

void DriverApi::loadVariables(void *Handle) {
  (void)resolve(Handle, "cuCtxPushCurrent_v2", CtxPushCurrent);
  (void)resolve(Handle, "cuCtxPopCurrent_v2", CtxPopCurrent);
  (void)resolve(Handle, "cuMemcpyDtoH_v2", MemcpyDtoH);
  (void)resolve(Handle, "cuLibraryGetGlobal", LibraryGetGlobal);
  (void)resolve(Handle, "cuLibraryGetManaged", LibraryGetManaged);
}

bool DriverApi::readsVariables() const {
  return CtxPushCurrent && CtxPopCurrent && CtxSynchronize && MemcpyDtoH && LibraryGetGlobal &&
         ModuleGetGlobal;
}

void DriverApi::loadLaunches(void *Handle) {
  (void)resolve(Handle, "cuLaunchKernelEx", LaunchKernelEx);
  (void)resolve(Handle, "cuStreamCreate", StreamCreate);
  (void)resolve(Handle, "cuStreamIsCapturing", StreamIsCapturing);
  (void)resolve(Handle, "cuStreamCopyAttributes", StreamCopyAttributes);
  (void)resolve(Handle, "cuStreamGetGreenCtx", StreamGetGreenCtx);
  (void)resolve(Handle, "cuCtxSynchronize", CtxSynchronize);
  (void)resolve(Handle, "cuCtxRecordEvent", CtxRecordEvent);
  (void)resolve(Handle, "cuEventCreate", EventCreate);
  (void)resolve(Handle, "cuEventDestroy_v2", EventDestroy);
  (void)resolve(Handle, "cuEventQuery", EventQuery);
  (void)resolve(Handle, "cuEventRecord", EventRecord);
  // Drivers before CUDA 12.8 have only the first version, which has the same parameters.
  if (!resolve(Handle, "cuEventElapsedTime_v2", EventElapsedTime))
    (void)resolve(Handle, "cuEventElapsedTime", EventElapsedTime);
  (void)resolve(Handle, "cuFuncGetAttribute", FuncGetAttribute);
  (void)resolve(Handle, "cuFuncSetAttribute", FuncSetAttribute);
  (void)resolve(Handle, "cuFuncSetCacheConfig", FuncSetCacheConfig);
  (void)resolve(Handle, "cuFuncGetModule", FuncGetModule);
  (void)resolve(Handle, "cuFuncGetParamInfo", FuncGetParamInfo);
  (void)resolve(Handle, "cuModuleGetGlobal_v2", ModuleGetGlobal);
  (void)resolve(Handle, "cuKernelGetFunction", KernelGetFunction);
  (void)resolve(Handle, "cuKernelGetLibrary", KernelGetLibrary);
  (void)resolve(Handle, "cuKernelGetAttribute", KernelGetAttribute);
  (void)resolve(Handle, "cuLibraryGetKernel", LibraryGetKernel);
  (void)resolve(Handle, "cuOccupancyMaxActiveBlocksPerMultiprocessor", OccupancyMaxActiveBlocks);
  (void)resolve(Handle, "cuOccupancyMaxActiveClusters", OccupancyMaxActiveClusters);
  (void)resolve(Handle, "cuGetErrorName", GetErrorName);
}

bool DriverApi::canLaunch() const {
  return LaunchKernelEx && StreamCreate && StreamQuery && StreamIsCapturing && CtxSynchronize &&
         CtxGetDevice && EventCreate && EventRecord && EventElapsedTime &&
         ThreadExchangeStreamCaptureMode && FuncGetAttribute && FuncSetAttribute && FuncGetModule &&
         ModuleGetFunction && DeviceGetAttribute && OccupancyMaxActiveBlocks;
}

void DriverApi::loadCopies(void *Handle) {
  (void)resolve(Handle, "cuCtxGetCurrent", CtxGetCurrent);
  (void)resolve(Handle, "cuCtxGetDevice", CtxGetDevice);
  (void)resolve(Handle, "cuCtxGetId", CtxGetId);
  (void)resolve(Handle, "cuThreadExchangeStreamCaptureMode", ThreadExchangeStreamCaptureMode);
  (void)resolve(Handle, "cuModuleLoadData", ModuleLoadData);
  (void)resolve(Handle, "cuModuleGetFunction", ModuleGetFunction);
  (void)resolve(Handle, "cuLaunchKernel", LaunchKernel);
  (void)resolve(Handle, "cuStreamQuery", StreamQuery);
  (void)resolve(Handle, "cuMemGetInfo_v2", MemGetInfo);
  (void)resolve(Handle, "cuMemGetAddressRange_v2", MemGetAddressRange);
  (void)resolve(Handle, "cuMemHostGetDevicePointer_v2", MemHostGetDevicePointer);
  (void)resolve(Handle, "cuMemAlloc_v2", MemAlloc);
  (void)resolve(Handle, "cuMemFree_v2", MemFree);
  (void)resolve(Handle, "cuMemAddressReserve", MemAddressReserve);
  (void)resolve(Handle, "cuMemAddressFree", MemAddressFree);
  (void)resolve(Handle, "cuMemGetAllocationGranularity", MemGetAllocationGranularity);
  (void)resolve(Handle, "cuMemCreate", MemCreate);
  (void)resolve(Handle, "cuMemRelease", MemRelease);
  (void)resolve(Handle, "cuMemMap", MemMap);
  (void)resolve(Handle, "cuMemUnmap", MemUnmap);
  (void)resolve(Handle, "cuMemSetAccess", MemSetAccess);
  (void)resolve(Handle, "cuMemcpyHtoDAsync_v2", MemcpyHtoDAsync);
  (void)resolve(Handle, "cuMemcpyDtoHAsync_v2", MemcpyDtoHAsync);
  (void)resolve(Handle, "cuMemsetD8Async", MemsetD8Async);
}

bool DriverApi::copies() const {
  // These are all functions except those that have a fall-back: cuCtxGetId, and the calls that map
  // memory.
  return CtxGetCurrent && CtxGetDevice && ThreadExchangeStreamCaptureMode && ModuleLoadData &&
         ModuleGetFunction && LaunchKernel && StreamQuery && MemGetInfo && MemGetAddressRange &&
         MemAlloc && MemFree && MemcpyHtoDAsync && MemcpyDtoHAsync && MemsetD8Async;
}
