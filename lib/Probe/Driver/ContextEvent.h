/// \file
/// Whether a context has run all that was submitted to it, asked without waiting: a wait would
/// never end where a kernel waits for what the program does next.
#pragma once

#include "Probe/Driver/CuptiApi.h"

namespace carve::probe {

/// Tells when everything in a context has run that was submitted before it was asked first.
class ContextEvent {
public:
  explicit ContextEvent(const DriverApi &Driver) : Driver(Driver) {}
  ContextEvent(const ContextEvent &) = delete;
  ContextEvent &operator=(const ContextEvent &) = delete;
  ~ContextEvent() {
    if (Event)
      (void)Driver.EventDestroy(Event);
  }
  /// True as well where the driver has no such events.
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
