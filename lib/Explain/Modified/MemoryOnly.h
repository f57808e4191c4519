/// \file
/// Makes the version of a kernel that only moves memory. ModifiedKernel.h says what modified
/// kernels are for; ModifiedModule calls this.
#pragma once

#include "Ptx/PtxModule.h"

namespace carve {

/// Returns the text of the entry \p Entry of \p M, renamed to \p NewName, from its linkage to its
/// closing brace, without the arithmetic on which no address and no branch depends. Loads, stores,
/// barriers and the control flow between them stay as they are. The version stores what it loaded,
/// folded into one word. Accesses to shared memory are removed with the arithmetic unless shared
/// memory holds addresses; its allocation stays as it is. Fails with Unsupported `memory-only` and
/// the reason if this cannot be done safely, or if most of the arithmetic would remain.
llvm::Expected<std::string> memoryOnly(const PtxModule &M, llvm::StringRef Entry,
                                       llvm::StringRef NewName);

} // namespace carve
