/// \file
/// Versions of a kernel for modified-kernel analysis (P. Micikevicius, "Analysis-driven
/// optimization", GTC 2010): one that only moves memory, one that only computes. How long each
/// takes, and how much of the one hides behind the other, tells what a kernel is limited by.
///
/// They compute nothing of use: they are timed where memory is put back behind them, and are never
/// emitted. Neither writes where the kernel does not, reads where it does not, or runs through a
/// loop more often; what cannot be made so is refused.
#pragma once

#include "Ptx/PtxModule.h"

namespace carve {

struct ModifiedClone {
  std::string Entry, Text; ///< Of the original, and as memoryOnly() or arithmeticOnly() made it.
};
/// The text of \p M with \p Clones behind the entries that they were made of.
std::string withModifiedClones(const PtxModule &M, llvm::ArrayRef<ModifiedClone> Clones);

/// The text of an entry with every loop marked not to be unrolled: ptxas unrolls by what is in a
/// loop, and other loads side by side are another kernel. Fails where it cannot be read.
llvm::Expected<std::string> withoutUnrolling(llvm::StringRef Definition);

} // namespace carve
