/// \file
/// Holds everything that is known about a kernel when its limiter is sought: launches and times of
/// a trace, counts of its code, hardware counters, times without arithmetic and without memory
/// traffic, and what a tuning tried. Explain/LimitsPipeline fills it, Limiters.h reads it.
#pragma once

#include "Explain/DeviceBalance.h"
#include "Explain/Modified/ModifiedTimes.h"
#include "Metrics/Counts/Counts.h"
#include "Metrics/Counts/Metrics.h"
#include "Protocol/LaunchShape.h"
#include "Search/EntryGuard.h"
#include "Workload/KernelCounters.h"

#include <optional>
#include <string>

namespace carve {

/// One variant of the last tuning.
struct TriedVariant {
  std::string Name;
  double Ratio = 0;         ///< The variant's time divided by the default's.
  double Low = 0, High = 0; ///< The 95 % interval of the ratio; both are 0 if it is not known.
  unsigned Regs = 0, SpillBytes = 0;
};

/// What carve tried for a kernel, according to the last report.
struct TriedVariants {
  unsigned Compiled = 0, Timed = 0, Carved = 0;
  std::optional<TriedVariant> Best; ///< The fastest variant that was timed.
  /// The fastest of the variants that spill least; absent if none spills less than the default.
  std::optional<TriedVariant> LeastSpilled;
  std::string Chosen;                   ///< `default`, or the name of the variant.
  std::string Reason;                   ///< Why the default was kept; may be empty.
  unsigned LeastRegs = 0, MostRegs = 0; ///< The register region; 0 if not known.
};

/// Facts about the whole traced program.
struct ProgramFacts {
  double SpanNs = 0; ///< Time from the first kernel's start to the last one's end; 0 if not known.
  double BusyNs = 0; ///< The part of the span in which a kernel ran.
  uint64_t Launches = 0;

  /// The share of the span in which a kernel ran, 0 to 1; absent if the span is not known.
  std::optional<double> busyShare() const {
    return SpanNs > 0 ? std::optional(BusyNs / SpanNs) : std::nullopt;
  }
};

/// The evidence on one kernel of the traced program.
struct KernelEvidence {
  std::string Kernel; ///< Its mangled name.
  double Share = 0;   ///< Its share of the run's GPU time, 0 to 1.
  uint64_t Launches = 0;
  double MeanNs = 0; ///< The mean time of a launch in Shape, as traced; 0 if not timed.
  LaunchShape Shape; ///< The shape that takes most of its time.
  unsigned RegsPerThread = 0, StaticSmemBytes = 0, Barriers = 0;
  /// Bytes of the spill instructions in the code, each counted once; 0 if not known.
  unsigned SpillBytes = 0;
  std::optional<KernelCounts> Counts;
  /// True if Counts are those of the machine code, false if they are those of the PTX.
  bool OfCode = false;
  bool TripsKnown = false;  ///< A run counted the trips of all loops, or the code shows them.
  std::string CountsReason; ///< Why Counts are absent; empty if they are not.
  std::optional<KernelCounters> Counters;
  std::optional<ModifiedTimes> Modified;
  std::optional<TriedVariants> Tried;
  std::vector<EntryHold> Entries; ///< The further entries that its objects have.

  /// Sets Counts from the counts of the PTX and of the machine code, whichever is closer to what
  /// runs. \p Counted says that the PTX's counts come from a run of the program and are exact.
  void takeCounts(const CountedKernel &Ptx, const std::optional<CountedKernel> &Code, bool Counted);

  /// The blocks of a launch.
  double blocks() const { return double(Shape.Grid[0]) * Shape.Grid[1] * Shape.Grid[2]; }
  unsigned warpsPerBlock() const { return (Shape.threadsPerBlock() + 31) / 32; }
  /// The warps of a launch.
  double warps() const { return blocks() * warpsPerBlock(); }
};

} // namespace carve
