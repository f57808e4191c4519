/// \file
/// Keeps the times of a kernel's launches in their order, and chooses launches to replay: typical
/// ones, and one in each segment of launches that take different times. A search that spreads over
/// a graph launches its kernel for one vertex first, and an iteration that has converged launches
/// it for nothing: a replay of such a launch would tell little of the others. It is pure: it knows
/// neither CUPTI nor files.
#pragma once

#include "Probe/Trace/NameMap.h"
#include "Protocol/TraceRecords.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace carve::probe {

/// The times of the launches of one shape, in the order of their records.
class LaunchSeries {
public:
  /// The times that are kept. Of more launches, every second one's is, then every fourth's.
  static constexpr size_t MostKept = 4096;
  /// Launches take the same time if the longer one takes at most so many times that of the other.
  static constexpr double Alike = 1.1;

  struct Typical {
    uint64_t First = 0, Second = 0;
    uint64_t MeanNs = 0;
  };

  /// Launches that take different times are divided into so many segments, if there are
  /// LeastDivided launches or more.
  static constexpr size_t SegmentCount = 4, LeastDivided = 16;
  /// The launches take different times if those that are alike the one in which half of the time is
  /// reached have less than this share of the time.
  static constexpr double LeastAlike = 0.8;

  struct Segment {
    uint64_t First = 0, Launches = 0, TotalNs = 0;
    uint64_t Replayed = 0, ReplayedNs = 0; ///< The launch in which half of its time is reached.
  };

  void add(uint64_t Ns);
  /// Returns launches that are alike the one in which half of the time is reached, if the launches
  /// are sorted by their times: the first such launch and the middle one of them, which is the same
  /// if there is no other. Returns nothing if the very first launch and the one in the middle are
  /// such launches.
  std::optional<Typical> typical() const;
  /// Returns parts of the launches, in their order, that have about the same time, and of each part
  /// the launch in which half of its time has passed. Choosing by time that has passed is fair to
  /// the sum of all times: a launch that takes twice as long is chosen twice as often. Returns
  /// nothing if the launches take the same time, or if one has too much of it.
  std::vector<Segment> segments() const;

private:
  std::vector<uint64_t> Kept; ///< The times of every Step-th launch.
  uint64_t Step = 1, Launches = 0;
};

/// The times of all kernels of a process. Thread-safe.
class LaunchTimes {
public:
  /// The times are kept for at most so many shapes of a kernel, those that come first.
  static constexpr size_t MostShapes = 32;

  /// Takes note that a launch of \p Kernel took \p Ns. Shapes in which a graph launches the kernel
  /// have no lines, because its nodes may run in any order.
  void ended(std::string_view Kernel, const LaunchShape &Shape, uint64_t Ns, bool InGraph);

  /// Returns the `typical` and `segment` lines.
  std::string lines() const;

private:
  struct Timed {
    LaunchSeries Series;
    bool InGraph = false;
  };

  mutable std::mutex Lock; ///< Protects the members below.
  NameMap<std::map<LaunchShape, Timed>> Kernels;
};

} // namespace carve::probe
