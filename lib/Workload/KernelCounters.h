/// \file
/// What the hardware counted while a kernel ran: made by Explain/HardwareCounters, read by what
/// says what limits a kernel.
#pragma once

#include <optional>
#include <string>

namespace carve {

/// Hardware counters of one kernel in one launch shape, means over the launches that were counted.
/// Absent: not counted.
struct KernelCounters {
  unsigned Launches = 0; ///< That were counted.
  std::optional<double> DurationNs;
  /// Of peak throughput, 0 to 1 (dram__throughput, lts__throughput
  /// .avg.pct_of_peak_sustained_elapsed).
  std::optional<double> DramShare, L2Share;
  std::string L2Part;                         ///< What L2 is busiest with, for a person.
  std::optional<double> L1Share, SharedShare; ///< l1tex throughput; shared-memory pipe.
  /// Of cycles of an SM sub-partition in which it issued (issue activity).
  std::optional<double> IssueShare;
  /// Of the busiest arithmetic pipe (fma/alu/fp64/xu/tensor), and its name.
  std::optional<double> PipeShare;
  std::string Pipe;
  std::optional<double> ActiveWarpsPerSm; ///< Mean warps resident per SM while active.
  std::optional<double> DramBytes, L2Bytes;
  /// Warp instructions executed; of these loads and stores of local memory.
  std::optional<double> Instructions, LocalInstructions;
};

} // namespace carve
