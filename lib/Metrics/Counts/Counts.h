/// \file
/// Computes dynamic instruction counts of a kernel without running it: its basic blocks, from PTX
/// or from machine code, weighted by how often its loops run. Metrics.h turns these counts into the
/// static metrics.
#pragma once

#include "Metrics/Counts/Metrics.h"
#include "Ptx/BlockCounters.h"
#include "Ptx/PtxModule.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace carve {

/// Tells where a trip count comes from.
enum class TripSource {
  Constant, ///< Start, step and bound are constants in the code.
  /// Step and bound are constants in the code, and the loop starts at the thread's index, which is
  /// taken as 0. Each thread does its part of a tile.
  FromThread,
  Annotated, ///< The user gave it.
  Counted,   ///< A run of the program counted it (Ptx/BlockCounters.h).
  /// The loop does what an unrolled loop leaves over; half of the maximum is taken.
  Remainder,
  Unrolled, ///< Assumed, and divided by the factor by which the compiler unrolled the loop.
  Matched,  ///< For machine code: the trips of the same loop in the PTX.
  Assumed,
};

/// Returns the name of \p S in reports, such as `constant` or `annotated`.
llvm::StringRef tripSourceName(TripSource S);

/// One loop with its trip count.
struct LoopCount {
  /// Counted from 1 in the order of the code. The entry's loops come before those of its callees.
  unsigned Number = 0;
  std::string Function; ///< The mangled name of the entry or callee that has the loop.
  bool OfEntry = true;
  unsigned Depth = 1; ///< The number of loops of its function around its body, including itself.
  /// The line of the branch that repeats it; 0 without line information.
  unsigned Line = 0;
  double Trips = 0; ///< How often the header runs each time the loop is entered.
  TripSource Source = TripSource::Assumed;
  /// How often its header runs in one run of what is around it (one trip of the outer loop, or the
  /// function). For machine code it is set if it is known from the PTX.
  std::optional<double> PerRun = std::nullopt;
  // These count the instructions in the code once each, without inner loops.
  unsigned OwnInstructions = 0;
  unsigned OwnMemory = 0; ///< Accesses to global and shared memory, and barriers.
  bool Swaps = false; ///< Whether it has a compare-and-swap, as a loop that retries an update has.
};

/// Trip counts that come from outside of the code.
struct TripCounts {
  double Assumed = 16;
  std::map<unsigned, double> ByLine; ///< By LoopCount::Line.
  /// By LoopCount::Number. They take precedence over ByLine.
  std::map<unsigned, double> ByNumber;
  /// The loops of the PTX that the machine code was made of, for countCode() (LoopMatch.h).
  std::vector<LoopCount> OfPtx = {};
  /// The counts of a run of the program, for countPtx(). They tell how often each block ran, and
  /// take precedence over everything else. A function without an entry here is counted by the other
  /// rules.
  RunsByFunction Runs = {};
};

/// The counts of a kernel, and what they are computed from.
struct CountedKernel {
  KernelCounts Counts;
  std::vector<LoopCount> Loops;
  /// Bytes of local memory that a thread loads and stores, weighted by trips. The index is the
  /// depth of the loop around the access, from 0.
  std::vector<double> LocalBytesByDepth;
  /// The share of accesses to global memory whose stride between threads is known.
  /// KernelCounts::CoalescedShare is about these only.
  double StrideSeenShare = 0;
};

/// Returns the counts of a variant: those of its machine code, completed with what only its PTX
/// shows.
KernelCounts combinedCounts(const CountedKernel &Code, const CountedKernel &Ptx);

} // namespace carve
