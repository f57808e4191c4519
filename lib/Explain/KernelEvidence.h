/// \file
/// All that is known of a kernel when it is asked what limits it: launches and times of a trace,
/// counts of its code, what the hardware counted, times without arithmetic and without memory
/// traffic, what a tuning tried. Made by Explain/LimitsPipeline, read by Limiters.h.
#pragma once

#include "Explain/DeviceBalance.h"
#include "Explain/Modified/ModifiedTimes.h"
#include "Metrics/Counts/Counts.h"
#include "Metrics/Counts/Metrics.h"
#include "Protocol/LaunchShape.h"
#include "Workload/KernelCounters.h"

#include <optional>
#include <string>

namespace carve {

/// One variant of the last tuning.
struct TriedVariant {
  std::string Name;
  double Ratio = 0;         ///< Time over the default's.
  double Low = 0, High = 0; ///< 95 % interval; both 0: not known.
  unsigned Regs = 0, SpillBytes = 0;
};

/// What carve tried of a kernel, from the last report.
struct TriedVariants {
  unsigned Compiled = 0, Timed = 0, Carved = 0;
  std::optional<TriedVariant> Best;         ///< The fastest that was timed.
  std::optional<TriedVariant> LeastSpilled; ///< The fastest of those that spill least.
  std::string Chosen;                       ///< `default`, or the variant.
  std::string Reason;                       ///< Why the default stayed; may be empty.
  unsigned LeastRegs = 0, MostRegs = 0;     ///< The register region; 0: not known.
};

/// Of the whole traced program.
struct ProgramFacts {
  double SpanNs = 0; ///< From the first kernel's start to the last one's end; 0: not known.
  double BusyNs = 0; ///< Of it, with a kernel running.
  uint64_t Launches = 0;

  std::optional<double> busyShare() const {
    return SpanNs > 0 ? std::optional(BusyNs / SpanNs) : std::nullopt;
  }
};

struct KernelEvidence {
  std::string Kernel; ///< Mangled.
  double Share = 0;   ///< Of the GPU time of the run, 0 to 1.
  uint64_t Launches = 0;
  double MeanNs = 0; ///< Of a launch in Shape, as traced; 0: not timed.
  LaunchShape Shape; ///< The one that takes most of the time.
  unsigned RegsPerThread = 0, StaticSmemBytes = 0, Barriers = 0;
  unsigned SpillBytes = 0; ///< As they stand in the code; 0 where not known.
  std::optional<KernelCounts> Counts;
  bool OfCode = false;      ///< Counts are the machine code's; else the PTX's.
  bool TripsKnown = false;  ///< By a counted run, or all are in the code.
  std::string CountsReason; ///< Why Counts are absent.
  std::optional<KernelCounters> Counters;
  std::optional<ModifiedTimes> Modified;
  std::optional<TriedVariants> Tried;

  /// Sets Counts from those of the PTX and of the machine code, whichever is closer to what runs.
  /// \p Counted: those of the PTX are of a run of the program, and exact.
  void takeCounts(const CountedKernel &Ptx, const std::optional<CountedKernel> &Code, bool Counted);

  double blocks() const { return double(Shape.Grid[0]) * Shape.Grid[1] * Shape.Grid[2]; }
  unsigned warpsPerBlock() const { return (Shape.threadsPerBlock() + 31) / 32; }
  double warps() const { return blocks() * warpsPerBlock(); }
};

} // namespace carve
