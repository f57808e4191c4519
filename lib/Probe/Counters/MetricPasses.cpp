#include "Probe/Counters/MetricPasses.h"

using namespace carve::probe;

PassImages::~PassImages() {
  if (!Host)
    return;
  CUpti_Profiler_Host_Deinitialize_Params Params{};
  Params.structSize = CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE;
  Params.pHostObject = Host;
  (void)Passes.Api.HostDeinitialize(&Params);
}

Failure PassImages::make(std::vector<std::string> Wanted, bool &Unknown) {
  const ProfilerApi &Api = Passes.Api;
  Metrics = std::move(Wanted);
  for (const std::string &Metric : Metrics)
    Names.push_back(Metric.c_str());
  CUpti_Profiler_Host_Initialize_Params Init{};
  Init.structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE;
  Init.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  Init.pChipName = Passes.Chip.c_str();
  Init.pCounterAvailabilityImage =
      Passes.Availability.empty() ? nullptr : Passes.Availability.data();
  if (CUptiResult R = Api.HostInitialize(&Init); R != CUPTI_SUCCESS)
    return profilerFailure("cuptiProfilerHostInitialize", R);
  Host = Init.pHostObject;
  CUpti_Profiler_Host_ConfigAddMetrics_Params Add{};
  Add.structSize = CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE;
  Add.pHostObject = Host;
  Add.ppMetricNames = Names.data();
  Add.numMetrics = Names.size();
  // CUPTI says "invalid metric name" or, for some metrics, "invalid parameter".
  Unknown = Api.AddMetrics(&Add) != CUPTI_SUCCESS;
  if (Unknown)
    return Failure::none();
  return makeConfig();
}

Failure PassImages::makeConfig() {
  const ProfilerApi &Api = Passes.Api;
  CUpti_Profiler_Host_GetConfigImageSize_Params Size{};
  Size.structSize = CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE;
  Size.pHostObject = Host;
  if (CUptiResult R = Api.GetConfigImageSize(&Size); R != CUPTI_SUCCESS)
    return profilerFailure("cuptiProfilerHostGetConfigImageSize", R);
  Config.resize(Size.configImageSize);
  CUpti_Profiler_Host_GetConfigImage_Params Image{};
  Image.structSize = CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE;
  Image.pHostObject = Host;
  Image.configImageSize = Config.size();
  Image.pConfigImage = Config.data();
  if (CUptiResult R = Api.GetConfigImage(&Image); R != CUPTI_SUCCESS)
    return profilerFailure("cuptiProfilerHostGetConfigImage", R);
  return Failure::none();
}

Failure PassImages::passes(size_t &Number) {
  CUpti_Profiler_Host_GetNumOfPasses_Params Params{};
  Params.structSize = CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE;
  Params.configImageSize = Config.size();
  Params.pConfigImage = Config.data();
  if (CUptiResult R = Passes.Api.GetNumOfPasses(&Params); R != CUPTI_SUCCESS)
    return profilerFailure("cuptiProfilerHostGetNumOfPasses", R);
  Number = Params.numOfPasses;
  return Failure::none();
}

Failure PassImages::evaluate(const std::vector<uint8_t> &CounterData,
                             std::vector<double> &Values) const {
  Values.assign(Names.size(), 0);
  std::vector<const char *> Wanted = Names;
  CUpti_Profiler_Host_EvaluateToGpuValues_Params Params{};
  Params.structSize = CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE;
  Params.pHostObject = Host;
  Params.pCounterDataImage = CounterData.data();
  Params.counterDataImageSize = CounterData.size();
  Params.ppMetricNames = Wanted.data();
  Params.numMetrics = Wanted.size();
  Params.pMetricValues = Values.data();
  if (CUptiResult R = Passes.Api.Evaluate(&Params); R != CUPTI_SUCCESS)
    return profilerFailure("cuptiProfilerHostEvaluateToGpuValues", R);
  return Failure::none();
}

/// Sets \p Number to the number of passes that \p Metrics take, or to 0 if the chip lacks one of
/// them.
Failure MetricPasses::passesOf(const std::vector<std::string> &Metrics, size_t &Number) const {
  PassImages Images(*this);
  bool Unknown = false;
  Number = 0;
  Failure Why = Images.make(Metrics, Unknown);
  return !Why && !Unknown ? Images.passes(Number) : Why;
}

/// Puts \p Metric, which takes one pass by itself, into the first pass with room for it, or into a
/// new one.
Failure MetricPasses::place(const std::string &Metric) {
  size_t Together = 0;
  for (std::vector<std::string> &Pass : Passes) {
    std::vector<std::string> Both = Pass;
    Both.push_back(Metric);
    if (Failure Why = passesOf(Both, Together))
      return Why;
    if (Together != 1)
      continue;
    Pass = std::move(Both);
    return Failure::none();
  }
  std::vector<std::string> &New = Passes.emplace_back();
  if (&New != &Passes.front()) {
    New = {Passes.front().front(), Metric};
    if (Failure Why = passesOf(New, Together))
      return Why;
  }
  if (Together != 1)
    New = {Metric};
  return Failure::none();
}

Failure MetricPasses::part(const std::vector<std::string> &Wanted) {
  for (const std::string &Metric : Wanted) {
    size_t Alone = 0;
    if (Failure Why = passesOf({Metric}, Alone))
      return Why;
    if (Alone != 1)
      Left.emplace_back(Metric, Alone == 0 ? "unknown" : std::to_string(Alone) + " passes");
    else if (Failure Why = place(Metric))
      return Why;
  }
  if (!Passes.empty())
    return Failure::none();
  return Failure("this chip (" + Chip + ") has none of the metrics");
}
