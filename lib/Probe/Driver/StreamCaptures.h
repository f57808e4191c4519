/// \file
/// Captures of streams into graphs: how many the program has under way, and how calls of ours leave
/// them alone.
#pragma once

#include "Probe/Driver/CuptiApi.h"
#include "Probe/Driver/DriverCalls.h"

#include <atomic>

namespace carve::probe {

/// Counts the captures of the whole process. Thread-safe.
class StreamCaptures {
public:
  /// The calls that note() has to see, at exit.
  static constexpr Roles Calls = Role::BeginsCapture | Role::EndsCapture;
  void note(CUpti_CallbackId Id, const CUpti_CallbackData &Call);

  /// Whether a stream is being captured: then hardly any call is allowed.
  bool any() const { return UnderWay > 0; }

private:
  std::atomic<int> UnderWay{0};
};

/// Whether \p Stream is being captured, as far as this driver tells.
bool isCapturing(const DriverApi &Driver, CUstream Stream);

/// While it lives, a capture that this or another thread has begun does not forbid our calls, and
/// is not broken by them.
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
