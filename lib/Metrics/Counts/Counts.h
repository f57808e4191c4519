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

/// Counts of \p Entry's PTX with what it calls, for one thread. Not counted: what becomes no
/// instruction (`ld.param`, `st.param`, `cvta.to`). Loads and stores of generic addresses count as
/// global. The ways of a branch weigh the same (Ptx/ControlFlow.h says which not). A call counts
/// the callee's body where the module has it; one by address and one that is running already count
/// as one instruction. With TripCounts::Runs the counts are means over the threads that ran, and
/// those of a callee over all calls of it. \p ThreadsPerBlockX: with fewer than a warp, neighbours
/// in x end sooner. Fails where the entry is not in the module or its code is no PTX that can be
/// read.
llvm::Expected<CountedKernel> countPtxKernel(const PtxModule &M, llvm::StringRef Entry,
                                             const TripCounts &Trips, unsigned ThreadsPerBlockX);
llvm::Expected<KernelCounts> countPtx(const PtxModule &M, llvm::StringRef Entry,
                                      const TripCounts &Trips, unsigned ThreadsPerBlockX);

/// Counts of the machine code of \p Kernel in a cubin for sm_75 or newer, with the functions that
/// it calls: spills as ptxas made them. Trip counts are those of the PTX where Trips.OfPtx fits,
/// else assumed: bounds cannot be seen, and a loop that ptxas has unrolled is then counted too
/// often. Coalescing is not seen. Fails where the cubin has no such kernel, and as Unsupported
/// where its architecture is unknown or its code is not read in full.
llvm::Expected<CountedKernel> countCodeKernel(llvm::StringRef CubinBytes, llvm::StringRef Kernel,
                                              const TripCounts &Trips);
llvm::Expected<KernelCounts> countCode(llvm::StringRef CubinBytes, llvm::StringRef Kernel,
                                       const TripCounts &Trips);

/// Counts of a variant: its machine code's, with what only its PTX shows.
KernelCounts combinedCounts(const CountedKernel &Code, const CountedKernel &Ptx);

} // namespace carve
