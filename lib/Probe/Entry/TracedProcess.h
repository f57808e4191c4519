/// \file
/// What the probe holds in one traced process: for its start, its callbacks, and its own thread,
/// which hand to everything else what that needs. Made once by InitializeInjection and never
/// destroyed: the last user is the end of the process.
#pragma once

#include "Probe/Driver/CuptiApi.h"
#include "Probe/Driver/Devices.h"
#include "Probe/Driver/ProbeMode.h"
#include "Probe/Driver/Submissions.h"
#include "Probe/Process/RecordFile.h"
#include "Probe/Trace/ImageMap.h"

namespace carve::probe {

struct TracedProcess {
  CuptiApi Cupti;
  DriverApi Driver;
  RecordFile File;
  ImageMap Images;
  Devices Used;
  Submissions Submitted;
  ProbeModes Modes;
  CUpti_SubscriberHandle Subscriber = nullptr;
  uint64_t LaunchDelayNs = 0; ///< Holds every launch back; 0: not at all.

  void recordDevices() { File.append(Used.describe(Driver)); }
};

} // namespace carve::probe
