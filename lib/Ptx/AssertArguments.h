/// \file
/// Finds the operands that `assert` leaves in a kernel: its message, file and line. KernelDigest
/// leaves them out, because the code's speed does not depend on them, and they change with every
/// edit above them.
#pragma once

#include "Ptx/PtxLexer.h"

#include "llvm/ADT/DenseSet.h"

namespace carve {

/// Returns the offsets of those tokens of \p Body that give a call of `__assertfail` its message,
/// file or line. \p Body is a function's body in \p Text whose tokens have their roles
/// (setRoles()). A value that is also used in another way is left out.
llvm::DenseSet<size_t> findAssertArguments(llvm::StringRef Text, llvm::ArrayRef<PtxToken> Body);

} // namespace carve
