/// \file
/// The functions of CUPTI and of the driver that the probe calls, found at run time. Neither
/// library can be linked, because the probe is built on machines without a GPU and runs with
/// whatever version is installed.
#pragma once

#include "Probe/Process/Failure.h"

#include <cuda.h>
#include <cupti.h>

#include <string>

namespace carve::probe {

/// The functions of CUPTI.
struct CuptiApi {
  decltype(&cuptiGetVersion) GetVersion = nullptr;
  decltype(&cuptiSubscribe) Subscribe = nullptr;
  decltype(&cuptiUnsubscribe) Unsubscribe = nullptr;
  decltype(&cuptiEnableCallback) EnableCallback = nullptr;
  decltype(&cuptiGetDeviceId) GetDeviceId = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) RegisterCallbacks = nullptr;
  decltype(&cuptiActivityEnable) Enable = nullptr;
  decltype(&cuptiActivityFlushAll) FlushAll = nullptr;
  decltype(&cuptiActivityGetNextRecord) GetNextRecord = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) GetNumDroppedRecords = nullptr;
  // Tell by which numbers records name contexts and streams. They are null if this CUPTI lacks
  // them; then nothing is replayed.
  decltype(&cuptiGetContextId) GetContextId = nullptr;
  decltype(&cuptiGetStreamIdEx) GetStreamIdEx = nullptr;
  /// Null if this CUPTI lacks it.
  decltype(&cuptiGetCallbackName) GetCallbackName = nullptr;
  /// The library's handle, for functions that only some runs need (ProfilerApi).
  void *Library = nullptr;

  /// Uses the CUPTI that the program has loaded; otherwise loads \p Path (may be null), and
  /// otherwise what the loader finds by name. Fails if none can be loaded, if it is too old, or if
  /// it lacks a function.
  Failure load(const char *Path);
};

/// The functions of a driver that the program has already loaded. A member is null if the driver is
/// not loaded or lacks the function.
struct DriverApi {
  decltype(&cuDriverGetVersion) DriverGetVersion = nullptr;
  decltype(&cuDeviceGet) DeviceGet = nullptr;
  decltype(&cuDeviceGetName) DeviceGetName = nullptr;
  decltype(&cuDeviceGetUuid) DeviceGetUuid = nullptr;
  decltype(&cuDeviceTotalMem) DeviceTotalMem = nullptr;
  decltype(&cuDeviceGetAttribute) DeviceGetAttribute = nullptr;
  decltype(&cuFuncGetName) FuncGetName = nullptr;
  decltype(&cuKernelGetName) KernelGetName = nullptr;
  decltype(&cuPointerGetAttributes) PointerGetAttributes = nullptr;

  // Launches and streams, used by Replay.
  decltype(&cuLaunchKernelEx) LaunchKernelEx = nullptr;
  decltype(&cuStreamCreate) StreamCreate = nullptr;
  decltype(&cuStreamIsCapturing) StreamIsCapturing = nullptr;
  decltype(&cuStreamCopyAttributes) StreamCopyAttributes = nullptr;
  decltype(&cuStreamGetGreenCtx) StreamGetGreenCtx = nullptr;
  decltype(&cuCtxSynchronize) CtxSynchronize = nullptr;
  decltype(&cuCtxRecordEvent) CtxRecordEvent = nullptr; ///< From CUDA 12.5 on.
  decltype(&cuEventCreate) EventCreate = nullptr;
  decltype(&cuEventDestroy) EventDestroy = nullptr;
  decltype(&cuEventQuery) EventQuery = nullptr;
  decltype(&cuEventRecord) EventRecord = nullptr;
  decltype(&cuEventElapsedTime) EventElapsedTime = nullptr;
  decltype(&cuFuncGetAttribute) FuncGetAttribute = nullptr;
  decltype(&cuFuncSetAttribute) FuncSetAttribute = nullptr;
  decltype(&cuFuncSetCacheConfig) FuncSetCacheConfig = nullptr;
  decltype(&cuFuncGetModule) FuncGetModule = nullptr;
  decltype(&cuFuncGetParamInfo) FuncGetParamInfo = nullptr;
  decltype(&cuKernelGetFunction) KernelGetFunction = nullptr;
  decltype(&cuKernelGetLibrary) KernelGetLibrary = nullptr;
  decltype(&cuKernelGetAttribute) KernelGetAttribute = nullptr;
  decltype(&cuModuleGetGlobal) ModuleGetGlobal = nullptr;
  decltype(&cuLibraryGetKernel) LibraryGetKernel = nullptr;
  decltype(&cuOccupancyMaxActiveBlocksPerMultiprocessor) OccupancyMaxActiveBlocks = nullptr;
  decltype(&cuOccupancyMaxActiveClusters) OccupancyMaxActiveClusters = nullptr;
  decltype(&cuGetErrorName) GetErrorName = nullptr;
  /// Returns whether the driver has all functions that rotating and replaying need.
  bool canLaunch() const;

  // Memory and copies, used by Snapshot.
  decltype(&cuCtxGetCurrent) CtxGetCurrent = nullptr;
  decltype(&cuCtxGetDevice) CtxGetDevice = nullptr;
  decltype(&cuCtxGetId) CtxGetId = nullptr;
  decltype(&cuThreadExchangeStreamCaptureMode) ThreadExchangeStreamCaptureMode = nullptr;
  decltype(&cuModuleLoadData) ModuleLoadData = nullptr;
  decltype(&cuModuleGetFunction) ModuleGetFunction = nullptr;
  decltype(&cuLaunchKernel) LaunchKernel = nullptr;
  decltype(&cuStreamQuery) StreamQuery = nullptr;
  decltype(&cuMemGetInfo) MemGetInfo = nullptr;
  decltype(&cuMemGetAddressRange) MemGetAddressRange = nullptr;
  decltype(&cuMemHostGetDevicePointer) MemHostGetDevicePointer = nullptr;
  decltype(&cuMemAlloc) MemAlloc = nullptr;
  decltype(&cuMemFree) MemFree = nullptr;
  decltype(&cuMemAddressReserve) MemAddressReserve = nullptr;
  decltype(&cuMemAddressFree) MemAddressFree = nullptr;
  decltype(&cuMemGetAllocationGranularity) MemGetAllocationGranularity = nullptr;
  decltype(&cuMemCreate) MemCreate = nullptr;
  decltype(&cuMemRelease) MemRelease = nullptr;
  decltype(&cuMemMap) MemMap = nullptr;
  decltype(&cuMemUnmap) MemUnmap = nullptr;
  decltype(&cuMemSetAccess) MemSetAccess = nullptr;
  decltype(&cuMemcpyHtoDAsync) MemcpyHtoDAsync = nullptr;
  decltype(&cuMemcpyDtoHAsync) MemcpyDtoHAsync = nullptr;
  decltype(&cuMemsetD8Async) MemsetD8Async = nullptr;

  /// Returns whether a snapshot can be taken with this driver.
  bool copies() const;

  // Variables of modules in any context, used by CountedRun.
  decltype(&cuCtxPushCurrent) CtxPushCurrent = nullptr;
  decltype(&cuCtxPopCurrent) CtxPopCurrent = nullptr;
  decltype(&cuMemcpyDtoH) MemcpyDtoH = nullptr;
  decltype(&cuLibraryGetGlobal) LibraryGetGlobal = nullptr;
  decltype(&cuLibraryGetManaged) LibraryGetManaged = nullptr;
  /// Returns whether variables can be read with this driver.
  bool readsVariables() const;

  // Graphs, used by the room Graphs.
  decltype(&cuGraphGetNodes) GraphGetNodes = nullptr;
  /// The first version of the call, which refuses to tell edges that have data.
  CUresult (*GraphGetEdges)(CUgraph, CUgraphNode *From, CUgraphNode *To, size_t *Count) = nullptr;
  /// The second version, which tells what each edge means. Null if the driver is older than
  /// CUDA 12.3, in which no edge has data.
  CUresult (*GraphGetEdgesWithData)(CUgraph, CUgraphNode *From, CUgraphNode *To,
                                    CUgraphEdgeData *Data, size_t *Count) = nullptr;
  decltype(&cuGraphNodeGetType) GraphNodeGetType = nullptr;
  decltype(&cuGraphKernelNodeGetParams) GraphKernelNodeGetParams = nullptr;
  decltype(&cuGraphKernelNodeGetAttribute) GraphKernelNodeGetAttribute = nullptr;
  decltype(&cuGraphMemcpyNodeGetParams) GraphMemcpyNodeGetParams = nullptr;
  decltype(&cuGraphMemsetNodeGetParams) GraphMemsetNodeGetParams = nullptr;
  decltype(&cuGraphHostNodeGetParams) GraphHostNodeGetParams = nullptr;
  decltype(&cuGraphChildGraphNodeGetGraph) GraphChildGraphNodeGetGraph = nullptr;
  decltype(&cuGraphEventRecordNodeGetEvent) GraphEventRecordNodeGetEvent = nullptr;
  decltype(&cuGraphEventWaitNodeGetEvent) GraphEventWaitNodeGetEvent = nullptr;
  decltype(&cuPointerGetAttribute) PointerGetAttribute = nullptr;
  /// Returns whether graphs can be read with this driver.
  bool readsGraphs() const;
  decltype(&cuGraphCreate) GraphCreate = nullptr;
  decltype(&cuGraphDestroy) GraphDestroy = nullptr;
  decltype(&cuGraphInstantiate) GraphInstantiate = nullptr;
  decltype(&cuGraphExecDestroy) GraphExecDestroy = nullptr;
  decltype(&cuStreamGetCtx) StreamGetCtx = nullptr;
  decltype(&cuStreamWaitEvent) StreamWaitEvent = nullptr;
  decltype(&cuLaunchHostFunc) LaunchHostFunc = nullptr;
  decltype(&cuMemcpyAsync) MemcpyAsync = nullptr;
  decltype(&cuMemcpy3DAsync) Memcpy3DAsync = nullptr;
  decltype(&cuMemsetD16Async) MemsetD16Async = nullptr;
  decltype(&cuMemsetD32Async) MemsetD32Async = nullptr;
  decltype(&cuMemsetD2D8Async) MemsetD2D8Async = nullptr;
  decltype(&cuMemsetD2D16Async) MemsetD2D16Async = nullptr;
  decltype(&cuMemsetD2D32Async) MemsetD2D32Async = nullptr;
  /// Returns whether the nodes of graphs can be launched one by one with this driver.
  bool launchesNodes() const;
  /// Null if this driver lacks it.
  decltype(&cuGraphExecKernelNodeSetParams) GraphExecKernelNodeSetParams = nullptr;

  void load();

private:
  void loadGraphs(void *Handle);
  void loadVariables(void *Handle);
  void loadLaunches(void *Handle);
  void loadCopies(void *Handle);
};

} // namespace carve::probe
