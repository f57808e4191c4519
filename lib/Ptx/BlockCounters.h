/// \file
/// Counts how often the basic blocks of kernels run, for `carve metrics --count`: puts counters
/// into PTX, which the probe reads when the program ends, and computes loop trips and block
/// frequencies from them.
#pragma once

#include "Ptx/PtxInstructions.h"
#include "Ptx/PtxModule.h"

#include <map>

namespace carve {

/// How often the parts of one function ran, added up over its threads and calls.
struct BlockRuns {
  std::vector<uint64_t> Blocks; ///< Indexed like the blocks of PtxFunction::Flow.
  /// For each block: how often the conditional branch at its end was not taken. It is counted only
  /// for blocks from which a loop is repeated, and is 0 for all others.
  std::vector<uint64_t> NotTaken;
};

/// The counts of each function, by the name that PtxModule::definitionOf() takes.
using RunsByFunction = std::map<std::string, BlockRuns>;

/// A module in which some entries, and the functions that they call, count their blocks.
struct CountingPtx {
  std::string Text;
  size_t Counters = 0;
  /// For each function, the number of its first counter. A function has one counter for each block,
  /// followed by as many for branches.
  std::map<std::string, size_t> FirstOf;
  std::map<std::string, size_t> BlocksOf;

  /// Converts \p Counts, the value of each counter by its number, into counts by function. A
  /// counter that is absent counts as 0.
  RunsByFunction runs(const std::map<size_t, uint64_t> &Counts) const;
};

/// Returns \p M with counters in \p Entries and in the functions that they call; calls of these
/// functions from other entries are counted, too. The counters lie in a new variable of the module,
/// named \p Variable. It has \p Copies rows of CountingPtx::Counters 64-bit numbers, and a count is
/// the sum of a column. Each multiprocessor adds to the row of its number, so that they do not wait
/// for each other. Nothing but this variable is written. Every thread that reaches a block is
/// counted, converged or not. Fails if an entry is not in the module, if the name \p Variable
/// occurs in the module, or if a body cannot be read.
llvm::Expected<CountingPtx> withBlockCounters(const PtxModule &M,
                                              llvm::ArrayRef<std::string> Entries,
                                              llvm::StringRef Variable, unsigned Copies);

/// What counts say of one function.
struct CountedFlow {
  double Calls = 0;                ///< For a kernel: its threads.
  std::vector<double> Frequencies; ///< How often each block runs in one call.
  /// For each loop, how often its header runs each time the loop is entered. Empty if that cannot
  /// be told, because a jump table repeats the loop.
  std::vector<std::optional<double>> Trips;
};
/// Computes the frequencies and trips of \p F from \p Runs. They have one number for each block and
/// each loop of \p F, and all are 0 if the function did not run.
CountedFlow countedFlow(const PtxFunction &F, const BlockRuns &Runs);

} // namespace carve
