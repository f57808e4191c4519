/// \file
/// The range profiler of the stand-in for CUPTI. A pass has room for three metrics; `wide.sum`
/// takes two passes by itself, and `bogus.sum` is unknown. `kernels.sum` is the number of kernels
/// that ran in the range, `gpu__time_duration.sum` is their time, and the value of any other metric
/// is the length of its name. The environment controls it:
///   STUB_PROFILER_FAIL     call=number, separated by spaces: this call returns this number
///   STUB_PROFILER_AUTO     0: kernels make no ranges by themselves
///   STUB_PROFILER_LOG      a file to which every call on a range is appended, as a letter

#include "StubProfiler.h"

#include <cuda.h>
#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#define STUB_API extern "C" __attribute__((visibility("default"))) CUptiResult

namespace {
constexpr size_t Room = 3;

struct Counts {
  uint64_t Kernels = 0, Ns = 0, Ranges = 0;
};

std::atomic<bool> Started, Pushed;
std::atomic<uint64_t> Kernels, Ns;
} // namespace

struct CUpti_Profiler_Host_Object {
  std::vector<std::string> Metrics;
};

struct CUpti_RangeProfiler_Object {
  CUpti_ProfilerRange Range = CUPTI_Range_INVALID;
  uint8_t *CounterData = nullptr;
  size_t Passes = 0;
};

void stubProfiledKernel(uint64_t Duration) {
  if (!Started)
    return;
  ++Kernels;
  Ns += Duration;
}

static CUptiResult answer(const char *Call, char Letter = 0) {
  const char *Log = std::getenv("STUB_PROFILER_LOG");
  if (std::FILE *Out = Log && Letter ? std::fopen(Log, "a") : nullptr) {
    std::fputc(Letter, Out);
    std::fclose(Out);
  }
  const char *Fail = std::getenv("STUB_PROFILER_FAIL");
  const char *At = Fail ? std::strstr(Fail, (std::string(Call) + "=").c_str()) : nullptr;
  return At ? CUptiResult(std::atoi(At + std::strlen(Call) + 1)) : CUPTI_SUCCESS;
}

static size_t passesOf(const std::vector<std::string> &Metrics) {
  size_t Wide = 0;
  for (const std::string &Metric : Metrics)
    Wide += Metric == "wide.sum";
  return Wide * 2 + (Metrics.size() - Wide + Room - 1) / Room;
}

STUB_API cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params *) {
  return answer("cuptiProfilerInitialize");
}

STUB_API cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params *P) {
  P->isSupported = std::getenv("STUB_PROFILER_UNSUPPORTED")
                       ? CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED
                       : CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  return answer("cuptiProfilerDeviceSupported");
}

STUB_API cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params *P) {
  P->counterAvailabilityImageSize = 1;
  return answer("cuptiProfilerGetCounterAvailability");
}

STUB_API cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params *P) {
  P->pChipName = "STUB100";
  return answer("cuptiDeviceGetChipName");
}

STUB_API cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params *P) {
  if (!P->pCounterAvailabilityImage || std::string(P->pChipName) != "STUB100")
    return CUPTI_ERROR_INVALID_PARAMETER;
  CUptiResult Result = answer("cuptiProfilerHostInitialize");
  if (Result == CUPTI_SUCCESS)
    P->pHostObject = new CUpti_Profiler_Host_Object;
  return Result;
}

STUB_API cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params *P) {
  delete P->pHostObject;
  return CUPTI_SUCCESS;
}

STUB_API cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params *P) {
  for (size_t I = 0; I < P->numMetrics; ++I) {
    if (std::string(P->ppMetricNames[I]) == "bogus.sum")
      return CUPTI_ERROR_INVALID_METRIC_NAME;
    P->pHostObject->Metrics.emplace_back(P->ppMetricNames[I]);
  }
  return CUPTI_SUCCESS;
}

STUB_API cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params *P) {
  P->configImageSize = 1;
  return CUPTI_SUCCESS;
}

STUB_API cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params *P) {
  P->pConfigImage[0] = uint8_t(passesOf(P->pHostObject->Metrics));
  return CUPTI_SUCCESS;
}

STUB_API cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params *P) {
  P->numOfPasses = P->pConfigImage[0];
  return CUPTI_SUCCESS;
}

STUB_API
cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params *P) {
  Counts Read;
  std::memcpy(&Read, P->pCounterDataImage, sizeof Read);
  for (size_t I = 0; I < P->numMetrics; ++I) {
    std::string Metric = P->ppMetricNames[I];
    P->pMetricValues[I] = Metric == "kernels.sum"              ? double(Read.Kernels)
                          : Metric == "gpu__time_duration.sum" ? double(Read.Ns)
                          : Metric == "nan.sum"                ? std::nan("")
                                                               : double(Metric.size());
  }
  return CUPTI_SUCCESS;
}

STUB_API cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params *P) {
  CUptiResult Result = answer("cuptiRangeProfilerEnable", 'e');
  if (Result == CUPTI_SUCCESS)
    P->pRangeProfilerObject = new CUpti_RangeProfiler_Object;
  return Result;
}

STUB_API cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params *P) {
  delete P->pRangeProfilerObject;
  return answer("cuptiRangeProfilerDisable", 'd');
}

STUB_API
cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params *P) {
  P->counterDataSize = sizeof(Counts);
  return CUPTI_SUCCESS;
}

STUB_API cuptiRangeProfilerCounterDataImageInitialize(
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params *P) {
  Counts None;
  std::memcpy(P->pCounterData, &None, sizeof None);
  return CUPTI_SUCCESS;
}

STUB_API cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params *P) {
  CUpti_RangeProfiler_Object &Object = *P->pRangeProfilerObject;
  Object.Range = P->range;
  Object.CounterData = P->pCounterDataImage;
  Object.Passes = P->pConfig[0];
  if (P->replayMode != CUPTI_UserReplay)
    return CUPTI_ERROR_INVALID_PARAMETER;
  return answer(P->range == CUPTI_AutoRange ? "autoConfig" : "cuptiRangeProfilerSetConfig");
}

STUB_API cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params *) {
  CUptiResult Result = answer("cuptiRangeProfilerStart", '(');
  Kernels = Ns = 0;
  Started = Result == CUPTI_SUCCESS;
  return Result;
}

STUB_API cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params *) {
  Pushed = true;
  return answer("cuptiRangeProfilerPushRange", '<');
}

STUB_API cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params *) {
  return answer("cuptiRangeProfilerPopRange", '>');
}

STUB_API cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params *P) {
  Started = false;
  P->isAllPassSubmitted = P->pRangeProfilerObject->Passes == 1;
  return answer("cuptiRangeProfilerStop", ')');
}

STUB_API cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params *P) {
  const CUpti_RangeProfiler_Object &Object = *P->pRangeProfilerObject;
  const char *Auto = std::getenv("STUB_PROFILER_AUTO");
  Counts Made{Kernels, Ns, 0};
  if (Object.Range == CUPTI_UserRange)
    Made.Ranges = Pushed.exchange(false);
  else
    Made.Ranges = Auto && std::atoi(Auto) == 0 ? 0 : Made.Kernels;
  std::memcpy(Object.CounterData, &Made, sizeof Made);
  return answer("cuptiRangeProfilerDecodeData");
}

STUB_API
cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params *P) {
  Counts Read;
  std::memcpy(&Read, P->pCounterDataImage, sizeof Read);
  P->numTotalRanges = Read.Ranges;
  return CUPTI_SUCCESS;
}
