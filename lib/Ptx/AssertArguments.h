/// \file
/// Finds what `assert` leaves in a kernel: its message, file and line are data of a failure that
/// the code's speed does not depend on, and they change with every edit above them.
#pragma once

#include "Ptx/PtxLexer.h"

#include "llvm/ADT/DenseSet.h"

namespace carve {

/// The offsets of those tokens of \p Body (roles set) that give a call of `__assertfail` its
/// message, file and line. A value that is also used otherwise is not among them.
llvm::DenseSet<size_t> findAssertArguments(llvm::StringRef Text, llvm::ArrayRef<PtxToken> Body);

} // namespace carve
