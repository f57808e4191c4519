/// \file
/// Computes what a variant's code costs, from the code alone: the static metrics of Ryoo et al.,
/// "Program optimization carving for GPU computing" (JPDC 2008), and the traffic and occupancy that
/// distinguish variants of one kernel. Carving and `carve metrics` use them.
#pragma once

#include "Cubin/KernelResources.h"
#include "Device/DeviceModel.h"
#include "Protocol/LaunchShape.h"

#include <optional>

namespace carve {

/// Instructions by the unit that executes them, for units that can limit a kernel.
struct PipeCounts {
  double Fp32 = 0; ///< Additions and multiplications, including half precision.
  double IntegerMultiply = 0;
  double Integer = 0; ///< Additions, comparisons, shifts, logic.
  double Fp64 = 0;
  double Special = 0; ///< Reciprocals, roots, exponentials, sines, and conversions.
  double Tensor = 0;

  /// Adds \p Other \p Times times.
  void add(const PipeCounts &Other, double Times);
};

/// Dynamic counts of one thread: each instruction in the code times the trip counts of the loops
/// around it.
struct KernelCounts {
  double Instructions = 0; ///< Instr in Ryoo et al.
  /// Regions in Ryoo et al.: the parts of the code between the instructions that a warp waits for
  /// (loads from global or local memory, and barriers) and the kernel's two ends.
  double Regions = 0;
  double GlobalLoads = 0, GlobalStores = 0; ///< Instructions; atomic operations count as stores.
  double GlobalLoadBytes = 0, GlobalStoreBytes = 0;
  double SharedAccesses = 0;                      ///< Instructions.
  double LocalLoadBytes = 0, LocalStoreBytes = 0; ///< Spills and arrays in local memory.
  /// The number of loops around the innermost access to local memory; 0 outside of all loops.
  unsigned DeepestLocalAccess = 0;
  /// The share of coalesced accesses among the global accesses whose stride between the threads of
  /// a warp is known; nothing if there are none.
  std::optional<double> CoalescedShare;
  unsigned AssumedTrips = 0; ///< The number of loops whose trip count is unknown and was assumed.
  PipeCounts Pipes = {};
  double LocalAccesses = 0; ///< Instructions.
  /// Rounds of shared memory (WarpAccess.h) for the thread's warp. Accesses of unknown stride are
  /// taken to be free of conflicts. 0 if the PTX was not available.
  double SharedRounds = 0;
  /// Bytes of the sectors that global accesses touch. If the stride is unknown, the first number
  /// assumes a coalesced access, and the second assumes a sector for each thread. 0 if the PTX was
  /// not available.
  double LeastMovedBytes = 0, MostMovedBytes = 0;

  double localBytes() const { return LocalLoadBytes + LocalStoreBytes; }
  double globalBytes() const { return GlobalLoadBytes + GlobalStoreBytes; }
  /// Returns the least number of bytes that memory moves; if sectors are unknown, the bytes that
  /// the instructions access.
  double globalBytesMoved() const { return LeastMovedBytes > 0 ? LeastMovedBytes : globalBytes(); }
};

/// The metrics of one variant of a kernel in one launch shape.
struct StaticMetrics {
  unsigned RegsPerThread = 0;
  unsigned StaticSmemBytes = 0;
  unsigned SpillBytes = 0; ///< Stores and loads in the code, counted once each; 0 if unknown.
  unsigned BlocksPerSm = 0, WarpsPerBlock = 0;
  double Occupancy = 0; ///< 0 to 1.
  /// Absent if there is no code (in a table of measurements) or if it could not be read.
  std::optional<KernelCounts> Counts;
  std::optional<double> Efficiency, Utilization;
};

/// Returns the efficiency of Ryoo et al., Eq. 1: 1 / (Instr x Threads). \p Threads is the number of
/// threads of the whole launch.
double efficiency(double Instructions, double Threads);

/// Returns the utilization of Ryoo et al., Eq. 2: Instr / Regions x [(W - 1) / 2 + (B - 1) W], with
/// \p WarpsPerBlock as W and \p BlocksPerSm as B.
double utilization(double Instructions, double Regions, unsigned WarpsPerBlock,
                   unsigned BlocksPerSm);

/// Computes the metrics of code that takes \p Resources, launched in \p Shape. \p Counts is absent
/// if the code was not counted.
StaticMetrics staticMetrics(const DeviceModel &D, const KernelResources &Resources,
                            const LaunchShape &Shape, std::optional<KernelCounts> Counts);

} // namespace carve
