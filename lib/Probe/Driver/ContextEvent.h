/// \file
/// Asks, without waiting, whether a context has run everything that was submitted to it. A wait
/// might never end, because a kernel may itself wait for what the program does next.
#pragma once

#include "Probe/Driver/CuptiApi.h"

namespace carve::probe {

/// Tells when a context has run everything that was submitted to it before the first call of
/// passed().
class ContextEvent {
public:
  explicit ContextEvent(const DriverApi &Driver) : Driver(Driver) {}
  ContextEvent(const ContextEvent &) = delete;
  ContextEvent &operator=(const ContextEvent &) = delete;
  ~ContextEvent() {
    if (Event)
      (void)Driver.EventDestroy(Event);
  }
  /// Returns whether the work of \p Context is done. Also returns true if the driver has no such
  /// events (before CUDA 12.5).
  bool passed(CUcontext Context) {
    if (!Begun && Driver.CtxRecordEvent && Driver.EventDestroy && Driver.EventQuery &&
        Driver.EventCreate(&Event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS)
      Recorded = Driver.CtxRecordEvent(Context, Event) == CUDA_SUCCESS;
    Begun = true;
    return !Recorded || Driver.EventQuery(Event) != CUDA_ERROR_NOT_READY;
  }

private:
  const DriverApi &Driver;
  CUevent Event = nullptr;
  bool Begun = false, Recorded = false;
};

} // namespace carve::probe
