/// \file
/// Makes the version of a kernel that only computes. ModifiedKernel.h says what modified kernels
/// are for; ModifiedModule calls this.
#pragma once

#include "Ptx/PtxModule.h"

namespace carve {

/// Returns the text of the entry \p Entry of \p M, renamed to \p NewName, from its linkage to its
/// closing brace, without its accesses to global and local memory. A loaded value is replaced by
/// one made from the address, so that it differs between threads and iterations. A stored value is
/// folded into a word, and ptxas cannot tell that nobody stores that word. Shared memory and
/// barriers stay. Fails with Unsupported `arithmetic-only` and the reason if a branch, or the
/// address of an access to shared memory, depends on loaded values.
llvm::Expected<std::string> arithmeticOnly(const PtxModule &M, llvm::StringRef Entry,
                                           llvm::StringRef NewName);

} // namespace carve
