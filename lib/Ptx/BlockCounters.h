/// \file
/// Counts how often the basic blocks of kernels run: PTX with counters in it, which the probe reads
/// when the program ends, and what the counts say of loops. The way behind `carve metrics --count`.
#pragma once

#include "Ptx/PtxInstructions.h"
#include "Ptx/PtxModule.h"

#include <map>

namespace carve {

/// How often the parts of one function ran, threads and calls added up.
struct BlockRuns {
  std::vector<uint64_t> Blocks; ///< By block of PtxFunction::Flow.
  /// By block: how often the conditional branch at its end was not taken. Only of blocks from which
  /// a loop is repeated; else 0.
  std::vector<uint64_t> NotTaken;
};

/// By name of the entry or function, as definitionOf() takes it.
using RunsByFunction = std::map<std::string, BlockRuns>;

/// A module in which each of some entries, and what they call, counts.
struct CountingPtx {
  std::string Text;
  size_t Counters = 0;
  /// The first counter of each function: one for each block, then as many for branches.
  std::map<std::string, size_t> FirstOf;
  std::map<std::string, size_t> BlocksOf;

  /// What the counters, absent ones being 0, say.
  RunsByFunction runs(const std::map<size_t, uint64_t> &Counts) const;
};

/// \p M with counters in \p Entries and in what they call, those calls included that come from
/// other entries. They lie in a variable of the module, \p Variable, of \p Copies rows of 64-bit
/// numbers with CountingPtx::Counters columns; what counts is the sum of a column. Several rows
/// keep the multiprocessors from waiting for each other. Nothing but this variable is written, and
/// every thread that comes to a block counts, converged or not. Fails where an entry is not in the
/// module, the variable's name is taken or a body cannot be read.
llvm::Expected<CountingPtx> withBlockCounters(const PtxModule &M,
                                              llvm::ArrayRef<std::string> Entries,
                                              llvm::StringRef Variable, unsigned Copies);

/// What \p Runs say of \p F, as many numbers as it has blocks or loops; all 0 where it did not run.
struct CountedFlow {
  double Calls = 0;                ///< Of a kernel: its threads.
  std::vector<double> Frequencies; ///< Of the blocks, for one call.
  /// Of the loops, how often a header runs for one entry; nothing where that cannot be told: a loop
  /// that a jump table repeats.
  std::vector<std::optional<double>> Trips;
};
CountedFlow countedFlow(const PtxFunction &F, const BlockRuns &Runs);

} // namespace carve
