/// \file
/// What a variant's code costs, read from the code without running it: the static metrics of Ryoo
/// et al., "Program optimization carving for GPU computing" (JPDC 2008), and the traffic and the
/// occupancy that tell variants of one kernel apart. Carving rests on these.
#pragma once

#include "Cubin/KernelResources.h"
#include "Device/DeviceModel.h"
#include "Protocol/LaunchShape.h"

#include <optional>

namespace carve {

/// Instructions by the units that carry them out, as far as these can limit a kernel.
struct PipeCounts {
  double Fp32 = 0; ///< Additions and multiplications, those of half precision too.
  double IntegerMultiply = 0;
  double Integer = 0; ///< Additions, comparisons, shifts, logic.
  double Fp64 = 0;
  double Special = 0; ///< Reciprocals, roots, exponentials, sines, and conversions.
  double Tensor = 0;

  void add(const PipeCounts &Other, double Times);
};

/// Dynamic counts of one thread, straight-line code times the trip counts of the loops around it.
struct KernelCounts {
  double Instructions = 0; ///< Ryoo's Instr.
  /// Ryoo's Regions: stretches between instructions that a warp waits for (loads of global or local
  /// memory, barriers), and the kernel's two ends.
  double Regions = 0;
  double GlobalLoads = 0, GlobalStores = 0; ///< Instructions; atomics count as stores.
  double GlobalLoadBytes = 0, GlobalStoreBytes = 0;
  double SharedAccesses = 0;                      ///< Instructions.
  double LocalLoadBytes = 0, LocalStoreBytes = 0; ///< Spills and arrays in local memory.
  unsigned DeepestLocalAccess = 0; ///< Loops around the innermost of these; 0 outside of all.
  /// Of the global accesses whose stride over the threads of a warp could be seen, those that are
  /// coalesced; nothing where none could.
  std::optional<double> CoalescedShare;
  unsigned AssumedTrips = 0; ///< Loops whose trip count is not known and was assumed.
  PipeCounts Pipes = {};
  double LocalAccesses = 0; ///< Instructions.
  /// Rounds of shared memory (WarpAccess.h) for the thread's warp; accesses whose stride is not
  /// seen are taken to be free of conflicts. 0 where the PTX was not seen.
  double SharedRounds = 0;
  /// Bytes of the sectors that global accesses touch. Where the stride is not seen the one takes
  /// the accesses to be coalesced, the other to touch a sector each. 0 where the PTX was not seen.
  double LeastMovedBytes = 0, MostMovedBytes = 0;

  double localBytes() const { return LocalLoadBytes + LocalStoreBytes; }
  double globalBytes() const { return GlobalLoadBytes + GlobalStoreBytes; }
  /// Of the sectors, at least; what the accesses name where sectors are not known.
  double globalBytesMoved() const { return LeastMovedBytes > 0 ? LeastMovedBytes : globalBytes(); }
};

/// A variant of a kernel in one launch shape.
struct StaticMetrics {
  unsigned RegsPerThread = 0;
  unsigned StaticSmemBytes = 0;
  unsigned SpillBytes = 0; ///< Stores and loads as they stand in the code; 0 where not known.
  unsigned BlocksPerSm = 0, WarpsPerBlock = 0;
  double Occupancy = 0; ///< 0 to 1.
  /// Absent where the code is not there (a table of measurements) or could not be read.
  std::optional<KernelCounts> Counts;
  std::optional<double> Efficiency, Utilization;
};

/// Ryoo Eq. 1: 1 / (Instr x Threads), \p Threads of the whole launch.
double efficiency(double Instructions, double Threads);

/// Ryoo Eq. 2: Instr / Regions x [(W - 1) / 2 + (B - 1) W], with \p WarpsPerBlock W and
/// \p BlocksPerSm B.
double utilization(double Instructions, double Regions, unsigned WarpsPerBlock,
                   unsigned BlocksPerSm);

/// Metrics of code with \p Resources in \p Shape; \p Counts as for StaticMetrics.
StaticMetrics staticMetrics(const DeviceModel &D, const KernelResources &Resources,
                            const LaunchShape &Shape, std::optional<KernelCounts> Counts);

} // namespace carve
