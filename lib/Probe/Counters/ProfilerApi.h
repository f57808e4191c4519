/// \file
/// The functions of CUPTI's range profiler, found at run time beside those of CuptiApi: only a run
/// with hardware counters needs them, and a CUPTI before 12.6 has none of them.
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

struct ProfilerApi {
  decltype(&cuptiProfilerInitialize) Initialize = nullptr;
  decltype(&cuptiProfilerDeviceSupported) DeviceSupported = nullptr;
  decltype(&cuptiProfilerGetCounterAvailability) GetCounterAvailability = nullptr;
  decltype(&cuptiDeviceGetChipName) GetChipName = nullptr;

  // What needs no device: which metrics there are, and what they take.
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

  /// From \p Cupti, a library that CuptiApi has opened. False where one is missing.
  bool load(void *Cupti);
};

/// CUPTI says no; why, in words for a person: what the permissions lack, or the number of \p Result
/// and \p Call.
Failure profilerFailure(const char *Call, CUptiResult Result);

} // namespace carve::probe
