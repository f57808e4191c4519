/// \file
/// What the probe holds in one traced process, shared by its callbacks, its own thread and its
/// exit hooks. Made once by InitializeInjection and never destroyed: the last user is the end of
/// the process.
#pragma once

#include "Probe/Capture/CaptureRun.h"
#include "Probe/Counters/CountedRun.h"
#include "Probe/Counters/HardwareCounters.h"
#include "Probe/Driver/CuptiApi.h"
#include "Probe/Driver/Devices.h"
#include "Probe/Driver/Hazards.h"
#include "Probe/Process/RecordFile.h"
#include "Probe/Replay/PlannedRun.h"
#include "Probe/Trace/BusySpan.h"
#include "Probe/Trace/ImageMap.h"
#include "Probe/Trace/KernelTable.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>

namespace carve::probe {

/// Lets each line through once, so that a program which loads one module a million times leaves
/// one record. Past MaxLines it forgets nothing new: the file may then repeat itself.
class OnceFilter {
public:
  static constexpr size_t MaxLines = 65536;
  bool first(const std::string &Line) {
    std::lock_guard<std::mutex> Guard(Lock);
    return Seen.size() >= MaxLines ? !Seen.count(Line) : Seen.insert(Line).second;
  }

private:
  std::mutex Lock;
  std::unordered_set<std::string> Seen;
};

struct TracedProcess {
  CuptiApi Cupti;
  DriverApi Driver;
  RecordFile File;
  ImageMap Images;
  OnceFilter Once;
  Devices Used;
  SeenHandles Programmatic; ///< Kernels that were recorded as launched so.
  CUpti_SubscriberHandle Subscriber = nullptr;
  uint64_t LaunchDelayNs = 0;                  ///< Holds every launch back; 0: not at all.
  std::unique_ptr<PlannedRun> Planned;         ///< Null without a plan.
  std::unique_ptr<CaptureRun> Capturing;       ///< Null where nothing is captured.
  std::unique_ptr<CountedRun> Counting;        ///< Null where no kernel counts.
  std::unique_ptr<HardwareCounters> Measuring; ///< Null without hardware counters.
  bool Tracing = true; ///< Otherwise images are replaced, and only what measures is switched on.

  std::mutex KernelsLock;
  KernelTable Kernels;
  BusySpan Busy;
  std::atomic<bool> Finishing{false}; ///< The last flush is under way.

  void recordOnce(const std::string &Line) {
    if (Once.first(Line))
      File.append(Line);
  }
  void recordDevices() { File.append(Used.describe(Driver)); }
};

} // namespace carve::probe
