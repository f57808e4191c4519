/// \file
/// Dynamic instruction counts of a kernel without running it: its basic blocks, from PTX or from
/// machine code, weighted by how often its loops run. The first half of the static metrics.
#pragma once

#include "Metrics/Counts/Metrics.h"
#include "Ptx/BlockCounters.h"
#include "Ptx/PtxModule.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace carve {

/// Where a trip count comes from.
enum class TripSource {
  Constant, ///< Start, step and bound stand in the code.
  /// Step and bound stand in the code, and it starts at the thread's index, taken as 0: each thread
  /// does its part of a tile.
  FromThread,
  Annotated, ///< The user says so.
  Counted,   ///< By a run of the program (Ptx/BlockCounters.h).
  Remainder, ///< A loop over what an unrolled one leaves; half of the most.
  Unrolled,  ///< Assumed, and divided by the factor by which the compiler has unrolled it.
  Matched,   ///< Of machine code: what the same loop of the PTX has.
  Assumed,
};

/// `constant`, `annotated` ...
llvm::StringRef tripSourceName(TripSource S);

struct LoopCount {
  unsigned Number = 0;  ///< From 1, in the order of the code, the entry's before its callees'.
  std::string Function; ///< Mangled: whose loop it is, the entry's or a callee's.
  bool OfEntry = true;
  unsigned Depth = 1; ///< Loops of its function around its body, itself included.
  unsigned Line = 0;  ///< Of the branch that repeats it; 0 without line information.
  double Trips = 0;   ///< For one entry of the loop.
  TripSource Source = TripSource::Assumed;
  /// How often its header runs in one run of what is around it: a trip of the loop around it, or
  /// its function. Of machine code: where it is known from the PTX.
  std::optional<double> PerRun = std::nullopt;
  // As they stand in the code, without inner loops.
  unsigned OwnInstructions = 0;
  unsigned OwnMemory = 0; ///< Accesses to global and shared memory, and barriers.
  bool Swaps = false;     ///< It compares and swaps, as what retries an update does.
};

/// Trip counts that are not in the code.
struct TripCounts {
  double Assumed = 16;
  std::map<unsigned, double> ByLine;   ///< By LoopCount::Line.
  std::map<unsigned, double> ByNumber; ///< By LoopCount::Number; before ByLine.
  /// The loops of the PTX that machine code was made of, for countCode() (LoopMatch.h).
  std::vector<LoopCount> OfPtx = {};
  /// What a run of the program has counted, for countPtx(). It says of each block how often it ran,
  /// and goes before all else. A function that it does not name is counted without it.
  RunsByFunction Runs = {};
};

/// A kernel's counts, with what they rest on.
struct CountedKernel {
  KernelCounts Counts;
  std::vector<LoopCount> Loops;
  /// Bytes of local memory that a thread loads and stores, by the depth of the loop that they are
  /// in, from 0, weighted by trips.
  std::vector<double> LocalBytesByDepth;
  /// Of the accesses to global memory, those whose stride over the threads could be seen: what
  /// KernelCounts::CoalescedShare speaks of.
  double StrideSeenShare = 0;
};

/// Counts of a variant: its machine code's, with what only its PTX shows.
KernelCounts combinedCounts(const CountedKernel &Code, const CountedKernel &Ptx);

} // namespace carve
