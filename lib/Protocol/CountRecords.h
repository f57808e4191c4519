/// \file
/// What a process writes that ran with counters: those in the images (CARVE_PROBE_COUNTERS), and
/// those of the hardware (CARVE_PROBE_METRICS).
#pragma once

#include "Protocol/TimingRecords.h"

namespace carve {

/// A counter in an image, summed over all contexts and modules of the process. A counter without a
/// record is 0.
struct CountedVariable {
  static constexpr ProtocolKind Kind{ProbeFile, "counted", Often::Many};
  std::string Variable;
  uint64_t Counter = 0, Count = 0;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("variable", Record.Variable);
    Visit.number("counter", Record.Counter);
    Visit.number("count", Record.Count);
  }
};

/// Says that the counts of this process are incomplete.
struct UncountedRecord {
  static constexpr ProtocolKind Kind{ProbeFile, "uncounted", Often::Many};
  std::string Why;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.text("reason", Record.Why);
  }
};

/// What is counted in this process on the chips of one kind.
struct MetricsRecord {
  static constexpr ProtocolKind Kind{ProbeFile, "metrics", Often::Many};
  std::string Chip;
  unsigned Pass = 0, Passes = 0; ///< Passes is the number of passes that all metrics take.
  std::string Metrics;           ///< The metrics of this pass, separated by commas; `-` for none.

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("chip", Record.Chip);
    Visit.number("pass", Record.Pass);
    Visit.number("passes", Record.Passes);
    Visit.name("metrics", Record.Metrics);
  }
};

/// A metric that is in no pass, and why.
struct NoMetricRecord {
  static constexpr ProtocolKind Kind{ProbeFile, "no-metric", Often::Many};
  std::string Chip, Metric, Why;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("chip", Record.Chip);
    Visit.name("metric", Record.Metric);
    Visit.text("reason", Record.Why);
  }
};

/// The value of one metric of one launch.
struct CountedMetric {
  static constexpr ProtocolKind Kind{ProbeFile, "measured", Often::Many};
  std::string Kernel;
  LaunchShape Shape;
  uint64_t Launch = 0; ///< The number of the launch of this kernel and shape in its process.
  /// If true, the value is of the time from before the launch until it was seen to have ended, and
  /// not of the kernel alone.
  bool IsSpan = false;
  std::string Metric;
  double Value = 0;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.shape(Record.Shape);
    Visit.number("LAUNCH", Record.Launch);
    Visit.either("range", Record.IsSpan, "kernel", "span");
    Visit.name("metric", Record.Metric);
    Visit.decimal("value", Record.Value);
  }
};

/// A launch that was not counted, and why.
struct UnmeasuredRecord {
  static constexpr ProtocolKind Kind{ProbeFile, "unmeasured", Often::Many};
  LaunchPlace Place;
  std::string Why;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    LaunchPlace::fields(Record.Place, Visit);
    Visit.text("reason", Record.Why);
  }
};

} // namespace carve
