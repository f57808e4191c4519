/// \file
/// How long the runs on one stream of ours took: by CUPTI's kernel records where they come in time,
/// else by events around each run.
#pragma once

#include "Probe/Driver/CuptiApi.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace carve::probe {

/// The kernel records of one stream, between CUPTI, which delivers them on any thread, and the
/// thread that waits for them.
class StreamRecords {
public:
  struct Run {
    std::string Name;
    uint64_t StartNs = 0, EndNs = 0;
  };
  void add(Run R);
  /// Whether \p Count records are there before \p Limit has passed.
  bool wait(size_t Count, std::chrono::milliseconds Limit);
  /// Takes all that are there, by start.
  std::vector<Run> take();

private:
  std::mutex Lock;
  std::condition_variable Changed;
  std::vector<Run> Runs;
};

class ReplayClock {
public:
  /// Events cannot tell a kernel shorter than this from its launch.
  static constexpr double LeastEventNs = 20'000;

  ReplayClock(const DriverApi &Driver, CUstream Stream, StreamRecords &Records)
      : Driver(Driver), Stream(Stream), Records(Records) {}

  /// Around the launch of the kernel recorded as \p Name; \p Timed: collect() gives its time. False
  /// where the driver gives no event.
  bool begin(const std::string &Name, bool Timed);
  bool end();
  /// The launch was refused: there will be no record of it.
  void cancel() { Runs.pop_back(); }

  /// The times of the timed runs since the last call, all by the same clock; the stream is idle.
  /// Empty where no clock can tell.
  std::vector<double> collect();

private:
  struct Run {
    std::string Name;
    bool Timed = false;
    size_t Events = 0; ///< Index of the pair.
  };

  bool event(size_t Index, CUevent &Event);
  bool byRecords(const std::vector<Run> &Done, std::vector<double> &Ns);
  bool byEvents(const std::vector<Run> &Done, std::vector<double> &Ns) const;

  const DriverApi &Driver;
  CUstream Stream;
  StreamRecords &Records;
  bool RecordsCome = true; ///< Until they have failed once: what comes late fits no run.
  std::vector<Run> Runs;
  std::vector<CUevent> Events;
};

} // namespace carve::probe
