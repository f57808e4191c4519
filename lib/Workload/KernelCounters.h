/// \file
/// Hardware counters of a kernel. Explain/HardwareCounters makes them, and the analysis of a
/// kernel's limits reads them.
#pragma once

#include <optional>
#include <string>

namespace carve {

/// Hardware counters of one kernel in one launch shape: means over the counted launches. A counter
/// is absent if it was not counted.
struct KernelCounters {
  unsigned Launches = 0; ///< Launches that were counted.
  std::optional<double> DurationNs;
  /// Shares of peak throughput, 0 to 1 (dram__throughput and lts__throughput,
  /// .avg.pct_of_peak_sustained_elapsed).
  std::optional<double> DramShare, L2Share;
  std::string L2Part; ///< What L2 is busiest with, as text for the report.
  std::optional<double> L1Share,
      SharedShare; ///< Shares of the l1tex throughput and shared-memory pipe.
  /// Share of an SM sub-partition's active cycles in which it issued an instruction, 0 to 1.
  std::optional<double> IssueShare;
  /// Share of peak of the busiest arithmetic pipe (fma, alu, fp64, xu, tensor), 0 to 1, and its
  /// name.
  std::optional<double> PipeShare;
  std::string Pipe;
  std::optional<double> ActiveWarpsPerSm; ///< Mean warps resident per SM while active.
  std::optional<double> DramBytes, L2Bytes;
  /// Warp instructions executed, and how many of these were loads and stores of local memory.
  std::optional<double> Instructions, LocalInstructions;
};

} // namespace carve
