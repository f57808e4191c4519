/// \file
/// What the tools want of the probe in one run: the plan of what is timed, the hardware counters,
/// and the launches to capture.
#pragma once

#include "Protocol/TimingRecords.h"

namespace carve {

// The plan (PlanFile). The lines of one kernel may be in any order.

/// Of the permutations.
struct SeedRecord {
  static constexpr ProtocolKind Kind{PlanFile, "seed", Often::Once};
  uint64_t Seed = 1;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.number("seed", Record.Seed);
  }
};

/// For all replays of a process; 0: no limit.
struct ReplayLimitRecord {
  static constexpr ProtocolKind Kind{PlanFile, "replay-ms", Often::Once};
  uint64_t Ms = 0;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.number("ms", Record.Ms);
  }
};

/// After which a run of a variant counts as hung.
struct HangLimitRecord {
  static constexpr ProtocolKind Kind{PlanFile, "hang-ms", Often::Once};
  uint64_t Ms = 0;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.number("ms", Record.Ms);
  }
};

/// How a kernel's variants are timed.
enum class TimingMode {
  Fixed,       ///< One variant for a whole run. In no plan.
  Rotate,      ///< Each launch of the program takes the next variant.
  Replay,      ///< A launch is repeated with every variant on the same inputs.
  VerifyRotate ///< Outputs are compared by replaying once per shape; timed by rotating.
};
template <> struct RecordWords<TimingMode> {
  static constexpr std::string_view All[] = {"fixed", "rotate", "replay", "verify-rotate"};
};

/// A kernel that is timed.
struct KernelRecord {
  static constexpr ProtocolKind Kind{PlanFile, "kernel", Often::Many};
  std::string Kernel;
  TimingMode Mode = TimingMode::Replay;
  bool MayRotate = false; ///< If it cannot be replayed.

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.word("mode", Record.Mode);
    Visit.either("fall-back", Record.MayRotate, "none", "rotate");
  }
};

/// A variant of it beside the default; one of them is the control.
struct VariantRecord {
  static constexpr ProtocolKind Kind{PlanFile, "variant", Often::Many};
  std::string Kernel, Variant;
  std::string Clone; ///< Its name in the module.

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.name("VARIANT", Record.Variant);
    Visit.name("clone", Record.Clone);
  }
};

/// A shape in which it is timed; others run the default.
struct PlannedShape {
  static constexpr ProtocolKind Kind{PlanFile, "shape", Often::Many};
  std::string Kernel;
  LaunchShape Shape;
  uint64_t Launches = 0; ///< As traced, in one process.
  uint64_t MeanNs = 0;   ///< Of the default. Whole: the reading of fractions would need libm.

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.shape(Record.Shape);
    Visit.number("launches", Record.Launches);
    Visit.number("mean ns", Record.MeanNs);
  }
};

/// A variant that is not to be run: it was at fault in an earlier run.
struct ExcludeRecord {
  static constexpr ProtocolKind Kind{PlanFile, "exclude", Often::Many};
  std::string Kernel;
  std::string Variant;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.name("VARIANT", Record.Variant);
  }
};

/// A variant that computes something else and is timed all the same: only replayed, and left out
/// only if it writes elsewhere than the kernel does.
struct MeasureRecord {
  static constexpr ProtocolKind Kind{PlanFile, "measure", Often::Many};
  std::string Kernel;
  std::string Variant;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.name("VARIANT", Record.Variant);
  }
};

// Hardware counters (MetricsFile).

/// Which pass of the metrics is counted, from 0.
struct PassRecord {
  static constexpr ProtocolKind Kind{MetricsFile, "pass", Often::Once};
  uint64_t Pass = 0;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.number("pass", Record.Pass);
  }
};

/// Most important first; the first is part of every pass.
struct MetricRecord {
  static constexpr ProtocolKind Kind{MetricsFile, "metric", Often::Many};
  std::string Metric;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("metric", Record.Metric);
  }
};

/// The launches of one kernel that are to be counted.
struct CountWish {
  static constexpr ProtocolKind Kind{MetricsFile, "kernel", Often::Many};
  std::string Kernel;
  LaunchShape Shape;
  uint64_t First = 0, Launches = 1; ///< From launch First on.

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.shape(Record.Shape);
    Visit.number("LAUNCH", Record.First);
    Visit.number("launches", Record.Launches);
  }
};

// Captures (CapturePlanFile).

/// For what is captured.
struct DirectoryRecord {
  static constexpr ProtocolKind Kind{CapturePlanFile, "directory", Often::Once};
  std::string Path;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("path", Record.Path);
  }
};

/// A launch that is to be captured. The n-th such record, from 0, is capture n.
struct CaptureWish {
  static constexpr ProtocolKind Kind{CapturePlanFile, "capture", Often::Many};
  std::string Kernel; ///< Mangled.
  LaunchShape Shape;
  uint64_t Launch = 0;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.shape(Record.Shape);
    Visit.number("LAUNCH", Record.Launch);
  }
};

} // namespace carve
