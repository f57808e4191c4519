/// \file
/// Uses CUPTI's range profiler on one context: sets the counters up for one pass, and counts one
/// launch at a time.
#pragma once

#include "Probe/Counters/MetricPasses.h"
#include "Probe/Process/Failure.h"

#include <string>
#include <vector>

namespace carve::probe {

/// The kinds of ranges. CUPTI makes a Kernel range by itself, and it contains the kernel alone. A
/// Span is opened and closed by the probe, and also contains 0.1 ms of CUPTI's own work (measured
/// with a kernel WaitNs of 80 us).
enum class RangeKind { Kernel, Span };

/// The counters of one context.
class CounterSession {
public:
  CounterSession(const ProfilerApi &Api, CUcontext Context, const PassImages &Images)
      : Api(Api), Context(Context), Images(Images) {}

  /// Called before the launch; the context must be idle. Fails if CUPTI refuses.
  Failure begin(RangeKind Kind);
  /// Called after the launch has ended. Writes the values of the pass's metrics to \p Values, in
  /// the order of metrics().
  Failure end(std::vector<double> &Values);
  /// Ends a range whose launch was not made. Does nothing if no range is open.
  void abandon();
  /// Gives the counters back. The context must still exist.
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
