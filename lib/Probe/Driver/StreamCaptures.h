/// \file
/// Captures of streams into graphs: counts those that the program has begun and not ended, and
/// keeps the probe's own calls from breaking them.
#pragma once

#include "Probe/Driver/CuptiApi.h"
#include "Probe/Driver/DriverCalls.h"

#include <atomic>

namespace carve::probe {

/// Counts the captures of the whole process. Thread-safe.
class StreamCaptures {
public:
  /// The calls that note() must see, at exit.
  static constexpr Roles Calls = Role::BeginsCapture | Role::EndsCapture;
  void note(CUpti_CallbackId Id, const CUpti_CallbackData &Call);

  /// Returns whether any stream is being captured. Hardly any call is allowed during a capture.
  bool any() const { return UnderWay > 0; }

private:
  std::atomic<int> UnderWay{0};
};

/// Returns whether \p Stream is being captured; false if this driver cannot tell.
bool isCapturing(const DriverApi &Driver, CUstream Stream);

/// While it lives, a capture that this or another thread has begun neither forbids the probe's
/// calls nor is broken by them.
class CaptureRelaxed {
public:
  explicit CaptureRelaxed(const DriverApi &Driver) : Driver(Driver) { exchange(); }
  ~CaptureRelaxed() { exchange(); }
  CaptureRelaxed(const CaptureRelaxed &) = delete;
  CaptureRelaxed &operator=(const CaptureRelaxed &) = delete;

private:
  void exchange() {
    if (Driver.ThreadExchangeStreamCaptureMode)
      (void)Driver.ThreadExchangeStreamCaptureMode(&Mode);
  }
  const DriverApi &Driver;
  CUstreamCaptureMode Mode = CU_STREAM_CAPTURE_MODE_RELAXED;
};

} // namespace carve::probe
