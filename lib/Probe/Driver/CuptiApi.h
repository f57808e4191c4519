/// \file
/// The functions of CUPTI and of the driver that the probe calls, found at run time: neither may
/// be linked, as the probe is built where there is no GPU and runs beside whatever is installed.
#pragma once

#include "Probe/Process/Failure.h"

#include <cuda.h>
#include <cupti.h>

#include <string>

namespace carve::probe {

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
  // How records name contexts and streams. Null where this CUPTI has none: then nothing is
  // replayed.
  decltype(&cuptiGetContextId) GetContextId = nullptr;
  decltype(&cuptiGetStreamIdEx) GetStreamIdEx = nullptr;
  /// Null where this CUPTI has none.
  decltype(&cuptiGetCallbackName) GetCallbackName = nullptr;
  void *Library = nullptr; ///< For what only some runs need (ProfilerApi).

  /// Takes the CUPTI that the program already has loaded, then \p Path (may be null), then what the
  /// loader finds by name.
  Failure load(const char *Path);
};

/// Only of a driver that is already loaded. Every member is null where it is not.
struct DriverApi {
  decltype(&cuDriverGetVersion) DriverGetVersion = nullptr;
  decltype(&cuDeviceGet) DeviceGet = nullptr;
  decltype(&cuDeviceGetName) DeviceGetName = nullptr;
  decltype(&cuDeviceGetUuid) DeviceGetUuid = nullptr;
  decltype(&cuDeviceTotalMem) DeviceTotalMem = nullptr;
  decltype(&cuDeviceGetAttribute) DeviceGetAttribute = nullptr;
  decltype(&cuFuncGetName) FuncGetName = nullptr;
  decltype(&cuKernelGetName) KernelGetName = nullptr;

  // Launches and streams, for Replay.
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
  /// Whether everything is there that rotating and replaying cannot do without.
  bool canLaunch() const;

  // Memory and copies, for Snapshot.
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

  /// Whether a snapshot can be taken with this driver.
  bool copies() const;

  // Variables of modules in any context, for CountedRun.
  decltype(&cuCtxPushCurrent) CtxPushCurrent = nullptr;
  decltype(&cuCtxPopCurrent) CtxPopCurrent = nullptr;
  decltype(&cuMemcpyDtoH) MemcpyDtoH = nullptr;
  decltype(&cuLibraryGetGlobal) LibraryGetGlobal = nullptr;
  decltype(&cuLibraryGetManaged) LibraryGetManaged = nullptr;
  /// Whether these can be read with this driver.
  bool readsVariables() const;

  void load();

private:
  void loadVariables(void *Handle);
  void loadLaunches(void *Handle);
  void loadCopies(void *Handle);
};

} // namespace carve::probe
