/// \file
/// The version of a kernel (ModifiedKernel.h) that only moves memory.
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

} // namespace carve
