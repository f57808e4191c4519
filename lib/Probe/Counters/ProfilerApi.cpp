#include "Probe/Counters/ProfilerApi.h"

#include <dlfcn.h>

using namespace carve::probe;

bool ProfilerApi::load(void *Cupti) {
  bool Complete = Cupti != nullptr;
  auto Resolve = [&](const char *Name, auto &Out) {
    if (Complete)
      Out = reinterpret_cast<std::decay_t<decltype(Out)>>(::dlsym(Cupti, Name));
    Complete &= Out != nullptr;
  };
  Resolve("cuptiProfilerInitialize", Initialize);
  Resolve("cuptiProfilerDeviceSupported", DeviceSupported);
  Resolve("cuptiProfilerGetCounterAvailability", GetCounterAvailability);
  Resolve("cuptiDeviceGetChipName", GetChipName);
  Resolve("cuptiProfilerHostInitialize", HostInitialize);
  Resolve("cuptiProfilerHostDeinitialize", HostDeinitialize);
  Resolve("cuptiProfilerHostConfigAddMetrics", AddMetrics);
  Resolve("cuptiProfilerHostGetConfigImageSize", GetConfigImageSize);
  Resolve("cuptiProfilerHostGetConfigImage", GetConfigImage);
  Resolve("cuptiProfilerHostGetNumOfPasses", GetNumOfPasses);
  Resolve("cuptiProfilerHostEvaluateToGpuValues", Evaluate);
  Resolve("cuptiRangeProfilerEnable", Enable);
  Resolve("cuptiRangeProfilerDisable", Disable);
  Resolve("cuptiRangeProfilerGetCounterDataSize", GetCounterDataSize);
  Resolve("cuptiRangeProfilerCounterDataImageInitialize", InitializeCounterData);
  Resolve("cuptiRangeProfilerSetConfig", SetConfig);
  Resolve("cuptiRangeProfilerStart", Start);
  Resolve("cuptiRangeProfilerStop", Stop);
  Resolve("cuptiRangeProfilerPushRange", PushRange);
  Resolve("cuptiRangeProfilerPopRange", PopRange);
  Resolve("cuptiRangeProfilerDecodeData", DecodeData);
  Resolve("cuptiRangeProfilerGetCounterDataInfo", GetCounterDataInfo);
  return Complete;
}

Failure carve::probe::profilerFailure(const char *Call, CUptiResult Result) {
  switch (Result) {
  case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
  case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
    return Failure("the driver permits counters to administrators alone "
                   "(https://developer.nvidia.com/ERR_NVGPUCTRPERM)");
  case CUPTI_ERROR_HARDWARE_BUSY:
    return Failure("another profiler uses the counters");
  case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
    return Failure("this virtual GPU has no counters");
  case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
    return Failure("confidential computing forbids counters");
  case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
    return Failure("a part of a GPU (MIG) has no counters");
  case CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED:
  case CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED:
  case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED:
  case CUPTI_ERROR_NOT_SUPPORTED:
    return Failure("counters are not supported on this GPU or system");
  default:
    return Failure(std::string(Call) + " failed with CUPTI's error " + std::to_string(int(Result)));
  }
}
