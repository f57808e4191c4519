/// \file
/// The functions of CUPTI's range profiler, found at run time. They are not part of CuptiApi,
/// because only a run with hardware counters needs them and a CUPTI before 12.6 lacks them.
#pragma once

#include "Probe/Process/Failure.h"

#include <cuda.h>
#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <string>

namespace carve::probe {

/// The functions of the range profiler.
struct ProfilerApi {
  decltype(&cuptiProfilerInitialize) Initialize = nullptr;
  decltype(&cuptiProfilerDeviceSupported) DeviceSupported = nullptr;
  decltype(&cuptiProfilerGetCounterAvailability) GetCounterAvailability = nullptr;
  decltype(&cuptiDeviceGetChipName) GetChipName = nullptr;

  // The functions that need no device: they say which metrics there are and what these take.
  decltype(&cuptiProfilerHostInitialize) HostInitialize = nullptr;
  decltype(&cuptiProfilerHostDeinitialize) HostDeinitialize = nullptr;
  decltype(&cuptiProfilerHostConfigAddMetrics) AddMetrics = nullptr;
  decltype(&cuptiProfilerHostGetConfigImageSize) GetConfigImageSize = nullptr;
  decltype(&cuptiProfilerHostGetConfigImage) GetConfigImage = nullptr;
  decltype(&cuptiProfilerHostGetNumOfPasses) GetNumOfPasses = nullptr;
  decltype(&cuptiProfilerHostEvaluateToGpuValues) Evaluate = nullptr;

  decltype(&cuptiRangeProfilerEnable) Enable = nullptr;
  decltype(&cuptiRangeProfilerDisable) Disable = nullptr;
  decltype(&cuptiRangeProfilerGetCounterDataSize) GetCounterDataSize = nullptr;
  decltype(&cuptiRangeProfilerCounterDataImageInitialize) InitializeCounterData = nullptr;
  decltype(&cuptiRangeProfilerSetConfig) SetConfig = nullptr;
  decltype(&cuptiRangeProfilerStart) Start = nullptr;
  decltype(&cuptiRangeProfilerStop) Stop = nullptr;
  decltype(&cuptiRangeProfilerPushRange) PushRange = nullptr;
  decltype(&cuptiRangeProfilerPopRange) PopRange = nullptr;
  decltype(&cuptiRangeProfilerDecodeData) DecodeData = nullptr;
  decltype(&cuptiRangeProfilerGetCounterDataInfo) GetCounterDataInfo = nullptr;

  /// Finds the functions in \p Cupti, a library that CuptiApi has opened. Returns false if one is
  /// missing.
  bool load(void *Cupti);
};

/// Makes the failure for a refusal of CUPTI, in words for a person: which permission is missing, or
/// the number of \p Result and the name of \p Call.
Failure profilerFailure(const char *Call, CUptiResult Result);

} // namespace carve::probe
