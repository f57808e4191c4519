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

/// The entry \p Entry of \p M under the name \p NewName, from its linkage to its closing brace,
/// without the arithmetic that leads to no address and no branch. Loads, stores, barriers and the
/// flow between them stay as they are; what is stored is what was loaded, folded into one word.
/// Shared memory goes with the arithmetic, as far as no address is kept in it; what the kernel
/// takes of it stays allocated. Fails as Unsupported `memory-only` with the reason where that
/// cannot be done safely, or would leave most of the arithmetic.
llvm::Expected<std::string> memoryOnly(const PtxModule &M, llvm::StringRef Entry,
                                       llvm::StringRef NewName);

/// The same without its accesses to global and local memory: what was loaded is made of the
/// address, so that it differs between threads and iterations, and what was stored is folded into a
/// word of which ptxas cannot tell that nobody stores it. Shared memory and barriers stay. Fails as
/// Unsupported `arithmetic-only` with the reason where a branch or the place of an access to
/// shared memory depends on what was loaded.
llvm::Expected<std::string> arithmeticOnly(const PtxModule &M, llvm::StringRef Entry,
                                           llvm::StringRef NewName);

struct ModifiedClone {
  std::string Entry, Text; ///< Of the original, and as above.
};
/// The text of \p M with \p Clones behind the entries that they were made of.
std::string withModifiedClones(const PtxModule &M, llvm::ArrayRef<ModifiedClone> Clones);

/// The text of an entry with every loop marked not to be unrolled: ptxas unrolls by what is in a
/// loop, and other loads side by side are another kernel. Fails where it cannot be read.
llvm::Expected<std::string> withoutUnrolling(llvm::StringRef Definition);

} // namespace carve
