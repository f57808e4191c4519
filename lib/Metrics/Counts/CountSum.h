/// \file
/// Counts being added up, block by block and callee by callee: what PtxCounts and CodeCounts share.
#pragma once

#include "Metrics/Counts/Counts.h"

namespace carve {

enum class AccessSpace { None, Global, Shared, Local };

/// What one instruction does to memory.
struct MemoryAccess {
  AccessSpace Space = AccessSpace::None;
  bool Loads = false, Stores = false; ///< An atomic operation stores.
  unsigned Bytes = 0;                 ///< Of one thread; 0 where not known.
};

struct CountSum {
  KernelCounts Counts; ///< CoalescedShare is not set before finish().
  double StrideSeen = 0, Coalesced = 0;
  std::vector<double> LocalBytesByDepth;

  /// One access in a block that runs \p Times times, in \p Depth loops.
  void addAccess(const MemoryAccess &A, double Times, unsigned Depth);
  /// A global access whose stride was seen.
  void addStride(bool IsCoalesced, double Times);
  /// A function that is called \p Times times from within \p Depth loops.
  void add(const CountSum &Callee, double Times, unsigned Depth);
  /// The kernel's counts, with the region that its ends make.
  CountedKernel finish(std::vector<LoopCount> Loops) const;

private:
  void addLocalBytes(double Bytes, unsigned Depth);
};

/// Whether its count is a guess.
bool isAssumed(TripSource S);

} // namespace carve
