#include "Probe/Counters/CounterSession.h"

using namespace carve::probe;

/// Returns the parameters of \p Object that every call has.
template <class Params> static Params paramsOf(size_t Bytes, CUpti_RangeProfiler_Object *Object) {
  Params P{};
  P.structSize = Bytes;
  P.pRangeProfilerObject = Object;
  return P;
}

/// The macros of CUPTI's headers name the size of a structure by the call.
#define CARVE_RANGE_PARAMS(Call)                                                                   \
  paramsOf<CUpti_RangeProfiler_##Call##_Params>(CUpti_RangeProfiler_##Call##_Params_STRUCT_SIZE,   \
                                                Object)

Failure CounterSession::enable() {
  if (Object)
    return Failure::none();
  CUpti_RangeProfiler_Enable_Params Params{};
  Params.structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE;
  Params.ctx = Context;
  if (CUptiResult R = Api.Enable(&Params); R != CUPTI_SUCCESS)
    return profilerFailure("cuptiRangeProfilerEnable", R);
  Object = Params.pRangeProfilerObject;
  return Failure::none();
}

Failure CounterSession::configure(RangeKind Kind) {
  auto Size = CARVE_RANGE_PARAMS(GetCounterDataSize);
  std::vector<const char *> Names = Images.names();
  Size.pMetricNames = Names.data();
  Size.numMetrics = Names.size();
  Size.maxNumOfRanges = 1;
  Size.maxNumRangeTreeNodes = 1;
  if (CUptiResult R = Api.GetCounterDataSize(&Size); R != CUPTI_SUCCESS)
    return profilerFailure("cuptiRangeProfilerGetCounterDataSize", R);
  // Counts of the previous launch must not remain.
  CounterData.assign(Size.counterDataSize, 0);
  auto Init = CARVE_RANGE_PARAMS(CounterDataImage_Initialize);
  Init.counterDataSize = CounterData.size();
  Init.pCounterData = CounterData.data();
  if (CUptiResult R = Api.InitializeCounterData(&Init); R != CUPTI_SUCCESS)
    return profilerFailure("cuptiRangeProfilerCounterDataImageInitialize", R);
  auto Set = CARVE_RANGE_PARAMS(SetConfig);
  Set.configSize = Images.config().size();
  Set.pConfig = Images.config().data();
  Set.counterDataImageSize = CounterData.size();
  Set.pCounterDataImage = CounterData.data();
  Set.range = Kind == RangeKind::Kernel ? CUPTI_AutoRange : CUPTI_UserRange;
  // This one launch makes the one pass. With the other modes CUPTI would repeat the launch.
  Set.replayMode = CUPTI_UserReplay;
  Set.maxRangesPerPass = 1;
  Set.numNestingLevels = 1;
  Set.minNestingLevel = 1;
  Set.passIndex = 0;
  Set.targetNestingLevel = Kind == RangeKind::Kernel ? 0 : 1;
  if (CUptiResult R = Api.SetConfig(&Set); R != CUPTI_SUCCESS)
    return profilerFailure("cuptiRangeProfilerSetConfig", R);
  return Failure::none();
}

Failure CounterSession::begin(RangeKind Kind) {
  if (Failure Why = enable())
    return Why;
  if (Failure Why = configure(Kind))
    return Why;
  auto Start = CARVE_RANGE_PARAMS(Start);
  if (CUptiResult R = Api.Start(&Start); R != CUPTI_SUCCESS)
    return profilerFailure("cuptiRangeProfilerStart", R);
  Started = true;
  if (Kind == RangeKind::Kernel)
    return Failure::none();
  auto Push = CARVE_RANGE_PARAMS(PushRange);
  Push.pRangeName = "launch";
  if (CUptiResult R = Api.PushRange(&Push); R != CUPTI_SUCCESS) {
    abandon();
    return profilerFailure("cuptiRangeProfilerPushRange", R);
  }
  Pushed = true;
  return Failure::none();
}

Failure CounterSession::stop() {
  CUptiResult Popped = CUPTI_SUCCESS;
  if (std::exchange(Pushed, false)) {
    auto Pop = CARVE_RANGE_PARAMS(PopRange);
    Popped = Api.PopRange(&Pop);
  }
  Started = false;
  auto Stop = CARVE_RANGE_PARAMS(Stop);
  if (CUptiResult R = Api.Stop(&Stop); R != CUPTI_SUCCESS)
    return profilerFailure("cuptiRangeProfilerStop", R);
  if (Popped != CUPTI_SUCCESS)
    return profilerFailure("cuptiRangeProfilerPopRange", Popped);
  return Stop.isAllPassSubmitted ? Failure::none() : Failure("the metrics took more than one pass");
}

Failure CounterSession::end(std::vector<double> &Values) {
  if (Failure Why = stop())
    return Why;
  auto Decode = CARVE_RANGE_PARAMS(DecodeData);
  if (CUptiResult R = Api.DecodeData(&Decode); R != CUPTI_SUCCESS)
    return profilerFailure("cuptiRangeProfilerDecodeData", R);
  CUpti_RangeProfiler_GetCounterDataInfo_Params Info{};
  Info.structSize = CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE;
  Info.pCounterDataImage = CounterData.data();
  Info.counterDataImageSize = CounterData.size();
  if (CUptiResult R = Api.GetCounterDataInfo(&Info); R != CUPTI_SUCCESS)
    return profilerFailure("cuptiRangeProfilerGetCounterDataInfo", R);
  if (Decode.numOfRangeDropped || Info.numTotalRanges != 1)
    return Failure("the launch made " +
                   std::to_string(Info.numTotalRanges + Decode.numOfRangeDropped) +
                   " ranges instead of 1");
  return Images.evaluate(CounterData, Values);
}

void CounterSession::abandon() {
  if (Started)
    (void)stop();
}

void CounterSession::disable() {
  if (!Object)
    return;
  abandon();
  auto Params = CARVE_RANGE_PARAMS(Disable);
  (void)Api.Disable(&Params);
  Object = nullptr;
}
