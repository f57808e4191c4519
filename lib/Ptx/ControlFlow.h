/// \file
/// Loops and execution frequencies of a function's basic blocks, of PTX and of machine code alike:
/// what the counts of lib/Metrics/Counts/Counts.h are weighted by.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <vector>

namespace carve {

/// Instructions [First, Last) that are executed together.
struct FlowBlock {
  size_t First = 0, Last = 0;
  std::vector<unsigned> Successors; ///< Blocks; none: the function ends here.
  /// It only leaves the function: what a guard such as `if (I >= N) return` jumps to.
  bool EndsAtOnce = false;
};

/// A natural loop: the blocks from which a back edge to its header can be reached without passing
/// the header.
struct FlowLoop {
  unsigned Header = 0;
  std::vector<unsigned> Blocks;  ///< Ascending, header and inner loops' included.
  std::vector<unsigned> Latches; ///< From which the header is reached again.
  std::optional<unsigned> Parent;
  unsigned Depth = 1; ///< Loops around its blocks, itself included.
};

struct ControlFlow {
  std::vector<FlowBlock> Blocks;
  std::vector<FlowLoop> Loops;                 ///< Ascending by the header's place in the code.
  std::vector<std::optional<unsigned>> LoopOf; ///< The innermost loop of each block.
  std::vector<bool> Reachable;
  std::vector<unsigned> ReversePostOrder; ///< Of the blocks that are reachable.
  std::vector<unsigned> ImmediateDominator;

  unsigned depth(unsigned Block) const { return LoopOf[Block] ? Loops[*LoopOf[Block]].Depth : 0; }
  bool dominates(unsigned Above, unsigned Below) const;
  bool contains(unsigned Loop, unsigned Block) const;
};

/// Finds dominators and natural loops; block 0 is the entry. A cycle that can be entered at several
/// places is no loop, its blocks count once.
ControlFlow analyseFlow(std::vector<FlowBlock> Blocks);

/// How often each block runs when the function runs once and each loop's header \p Trips[loop]
/// times for one entry of the loop. The ways of a branch weigh the same, except that a loop is not
/// left before its last trip, that a way into a loop is taken rather than one around it, and that
/// one which only ends the function is not taken where there is another. \p PerRun, empty or of as
/// many: how often a loop's header runs in one run of what is around it (a trip of its parent, or
/// the function), where that is known. Such a loop runs so often whichever ways lead to it, and
/// where only one way of a branch reaches it, that way is taken at least as often as it is entered.
std::vector<double> blockFrequencies(const ControlFlow &Flow, llvm::ArrayRef<double> Trips,
                                     llvm::ArrayRef<std::optional<double>> PerRun = {});

} // namespace carve
