/// \file
/// Finds loops and computes execution frequencies of a function's basic blocks, for PTX and for
/// machine code alike. The counts in lib/Metrics/Counts are weighted by these frequencies.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <vector>

namespace carve {

/// A basic block: the instructions [First, Last), which are executed together.
struct FlowBlock {
  size_t First = 0, Last = 0;
  std::vector<unsigned> Successors; ///< Numbers of blocks; if empty, the function ends here.
  /// The block does nothing but leave the function. A guard such as `if (I >= N) return` jumps to
  /// one.
  bool EndsAtOnce = false;
};

/// A natural loop: its header and all blocks from which a back edge to the header can be reached
/// without passing through the header.
struct FlowLoop {
  unsigned Header = 0;
  /// Ascending; they include the header and the blocks of inner loops.
  std::vector<unsigned> Blocks;
  std::vector<unsigned> Latches; ///< The blocks from which the header is reached again.
  std::optional<unsigned> Parent;
  unsigned Depth = 1; ///< The number of loops around its blocks, including itself.
};

/// The basic blocks of a function with their loops and dominators. Block 0 is the entry.
struct ControlFlow {
  std::vector<FlowBlock> Blocks;
  std::vector<FlowLoop> Loops; ///< Ascending by the position of the header in the code.
  std::vector<std::optional<unsigned>> LoopOf; ///< The innermost loop of each block.
  std::vector<bool> Reachable;
  std::vector<unsigned> ReversePostOrder; ///< Only the reachable blocks.
  std::vector<unsigned> ImmediateDominator;

  /// Returns the number of loops around \p Block.
  unsigned depth(unsigned Block) const { return LoopOf[Block] ? Loops[*LoopOf[Block]].Depth : 0; }
  /// Whether every way from the entry to \p Below passes \p Above, or both are the same block. Both
  /// must be reachable.
  bool dominates(unsigned Above, unsigned Below) const;
  /// Whether \p Block belongs to loop \p Loop or to a loop inside of it.
  bool contains(unsigned Loop, unsigned Block) const;
};

/// Finds the dominators and natural loops of \p Blocks, of which block 0 is the entry. A cycle that
/// can be entered at several places is not a loop, and its blocks count once.
ControlFlow analyseFlow(std::vector<FlowBlock> Blocks);

/// Returns how often each block runs in one run of the function. \p Trips has one number for each
/// loop: how often its header runs each time the loop is entered. The ways of a branch weigh the
/// same, with three exceptions: a loop is not left before its last trip; a way that enters a loop
/// is preferred to one around it; a way that only ends the function is not taken if there is
/// another.
/// \p PerRun is empty or has one element for each loop: how often the loop's header runs in one run
/// of the region around it (one trip of its parent, or the function), if that is known. Such a loop
/// runs that often, no matter which ways lead to it. If only one way of a branch reaches it, that
/// way is taken at least as often as the loop is entered.
std::vector<double> blockFrequencies(const ControlFlow &Flow, llvm::ArrayRef<double> Trips,
                                     llvm::ArrayRef<std::optional<double>> PerRun = {});

} // namespace carve
