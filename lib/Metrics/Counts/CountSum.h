/// \file
/// Adds up counts, block by block and callee by callee. PtxCounts and CodeCounts share it.
#pragma once

#include "Metrics/Counts/Counts.h"

namespace carve {

/// The memory that an instruction accesses.
enum class AccessSpace { None, Global, Shared, Local };

/// How one instruction accesses memory.
struct MemoryAccess {
  AccessSpace Space = AccessSpace::None;
  bool Loads = false, Stores = false; ///< An atomic operation counts as a store.
  unsigned Bytes = 0;                 ///< Of one thread; 0 if unknown.
};

/// The counts of one call of a function so far, for one thread.
struct CountSum {
  KernelCounts Counts; ///< CoalescedShare is set by finish() only.
  double StrideSeen = 0, Coalesced = 0;
  std::vector<double> LocalBytesByDepth;

  /// Adds one access in a block that runs \p Times times inside of \p Depth loops.
  void addAccess(const MemoryAccess &A, double Times, unsigned Depth);
  /// Adds a global access whose stride is known.
  void addStride(bool IsCoalesced, double Times);
  /// Adds a function that is called \p Times times inside of \p Depth loops.
  void add(const CountSum &Callee, double Times, unsigned Depth);
  /// Returns the counts of a kernel with \p Loops. It adds the one region that the kernel's ends
  /// make.
  CountedKernel finish(std::vector<LoopCount> Loops) const;

private:
  void addLocalBytes(double Bytes, unsigned Depth);
};

/// Whether a trip count of this source is a guess.
bool isAssumed(TripSource S);

} // namespace carve
