/// \file
/// The version of a kernel (ModifiedKernel.h) that only computes.
#pragma once

#include "Ptx/PtxModule.h"

namespace carve {

/// The entry \p Entry of \p M under the name \p NewName, from its linkage to its closing brace,
/// without its accesses to global and local memory: what was loaded is made of the address, so that
/// it differs between threads and iterations, and what was stored is folded into a word of which
/// ptxas cannot tell that nobody stores it. Shared memory and barriers stay. Fails as Unsupported
/// `arithmetic-only` with the reason where a branch or the place of an access to shared memory
/// depends on what was loaded.
llvm::Expected<std::string> arithmeticOnly(const PtxModule &M, llvm::StringRef Entry,
                                           llvm::StringRef NewName);

} // namespace carve
