/// \file
/// Versions of a kernel for modified-kernel analysis (P. Micikevicius, "Analysis-driven
/// optimization", GTC 2010): one that only moves memory (MemoryOnly.h) and one that only computes
/// (ArithmeticOnly.h). How long each takes, and how much of one hides behind the other, tells what
/// limits the kernel.
///
/// The versions compute nothing useful. They are timed in replays, after which memory is restored,
/// and are never emitted. A version never writes or reads where the kernel does not, and never runs
/// a loop more often. A kernel for which this cannot be guaranteed is refused.
#pragma once

#include "Ptx/PtxModule.h"

namespace carve {

/// A version to be added to a module.
struct ModifiedClone {
  /// The name of the original, and the version's text from memoryOnly() or arithmeticOnly().
  std::string Entry, Text;
};
/// Returns the text of \p M with each of \p Clones placed after its original.
std::string withModifiedClones(const PtxModule &M, llvm::ArrayRef<ModifiedClone> Clones);

/// Returns the text of an entry with every loop marked not to be unrolled. ptxas decides about
/// unrolling by what a loop contains, so that a version could otherwise have other loads side by
/// side than the kernel. Fails if \p Definition cannot be read.
llvm::Expected<std::string> withoutUnrolling(llvm::StringRef Definition);

} // namespace carve
