/// \file
/// CUPTI's range profiler on one context: sets the counters up for one pass and counts one launch
/// at a time.
#pragma once

#include "Probe/Counters/MetricPasses.h"
#include "Probe/Process/Failure.h"

#include <string>
#include <vector>

namespace carve::probe {

/// What a range is. CUPTI makes one of each kernel by itself, which holds the kernel alone; one
/// that we open and close holds 0.1 ms of CUPTI's own beside it (a kernel WaitNs of 80 us).
enum class RangeKind { Kernel, Span };

class CounterSession {
public:
  CounterSession(const ProfilerApi &Api, CUcontext Context, const PassImages &Images)
      : Api(Api), Context(Context), Images(Images) {}

  /// Before the launch; the context is idle.
  Failure begin(RangeKind Kind);
  /// After it has ended. \p Values: of the pass's metrics, in their order.
  Failure end(std::vector<double> &Values);
  /// Ends a range whose launch did not come. Does nothing where there is none.
  void abandon();
  /// Gives the counters back. The context is alive.
  void disable();
  const std::vector<std::string> &metrics() const { return Images.metrics(); }

private:
  Failure enable();
  Failure configure(RangeKind Kind);
  Failure stop();

  const ProfilerApi &Api;
  CUcontext Context;
  const PassImages &Images;
  CUpti_RangeProfiler_Object *Object = nullptr;
  std::vector<uint8_t> CounterData;
  bool Started = false, Pushed = false;
};

} // namespace carve::probe
