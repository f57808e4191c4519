/// \file
/// Finds loops that wait: those that read one address until its value changes.
#pragma once

#include "Ptx/PtxLexer.h"

namespace carve {

/// Whether \p Body (roles set) has a loop without a store or a call that reads one address by a
/// volatile, relaxed or acquire load or by an atomic operation with unchanging operands, and that
/// is left, or repeated, by what was read. A compare-and-swap loop that computes its new value is
/// none. Loops in shared memory are not counted: only threads of one block can meet there.
bool hasSpinLoop(llvm::StringRef Text, llvm::ArrayRef<PtxToken> Body);

} // namespace carve
