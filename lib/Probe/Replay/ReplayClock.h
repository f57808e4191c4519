/// \file
/// Measures how long runs on one stream of the probe took: by CUPTI's kernel records if they come
/// in time, otherwise by events around each run.
#pragma once

#include "Probe/Driver/CuptiApi.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace carve::probe {

/// The kernel records of one stream. CUPTI adds them on any thread, and another thread waits for
/// them.
class StreamRecords {
public:
  struct Run {
    std::string Name;
    uint64_t StartNs = 0, EndNs = 0;
  };
  void add(Run R);
  /// Waits until \p Count records are there. Returns false if \p Limit passes before that.
  bool wait(size_t Count, std::chrono::milliseconds Limit);
  /// Takes all records, in the order of their start times.
  std::vector<Run> take();

private:
  std::mutex Lock;
  std::condition_variable Changed;
  std::vector<Run> Runs;
};

/// The clock of one stream.
class ReplayClock {
public:
  /// The shortest time that events can measure. For a shorter kernel they cannot tell the kernel
  /// from its launch.
  static constexpr double LeastEventNs = 20'000;

  ReplayClock(const DriverApi &Driver, CUstream Stream, StreamRecords &Records)
      : Driver(Driver), Stream(Stream), Records(Records) {}

  /// Called before and after the launch of the kernel that records name \p Name. collect() returns
  /// its time if \p Timed is set. Returns false if the driver gives no event.
  bool begin(const std::string &Name, bool Timed);
  bool end();
  /// Called if the launch was refused, in which case no record of it comes.
  void cancel() { Runs.pop_back(); }

  /// Returns the times in ns of the timed runs since the last call, all by the same clock. The
  /// stream must be idle. The result is empty if no clock can tell.
  std::vector<double> collect();

private:
  struct Run {
    std::string Name;
    bool Timed = false;
    size_t Events = 0; ///< The index of the pair of events.
  };

  bool event(size_t Index, CUevent &Event);
  bool byRecords(const std::vector<Run> &Done, std::vector<double> &Ns);
  bool byEvents(const std::vector<Run> &Done, std::vector<double> &Ns) const;

  const DriverApi &Driver;
  CUstream Stream;
  StreamRecords &Records;
  /// Cleared after records have failed once, because a record that comes late fits no run.
  bool RecordsCome = true;
  std::vector<Run> Runs;
  std::vector<CUevent> Events;
};

} // namespace carve::probe
