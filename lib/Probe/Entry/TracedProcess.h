/// \file
/// Everything that the probe holds in one traced process. The start, the callbacks and the probe's
/// own thread use it, and pass to other code only what that code needs. InitializeInjection makes
/// it once; it is never destroyed, because the end of the process is its last user.
#pragma once

#include "Probe/Driver/CuptiApi.h"
#include "Probe/Driver/Devices.h"
#include "Probe/Driver/ProbeMode.h"
#include "Probe/Driver/Submissions.h"
#include "Probe/Process/RecordFile.h"
#include "Probe/Trace/ImageMap.h"

namespace carve::probe {

/// The state of the probe in this process.
struct TracedProcess {
  CuptiApi Cupti;
  DriverApi Driver;
  RecordFile File;
  ImageMap Images;
  Devices Used;
  Submissions Submitted;
  ProbeModes Modes;
  CUpti_SubscriberHandle Subscriber = nullptr;

  void recordDevices() { File.append(Used.describe(Driver)); }
};

} // namespace carve::probe
