/// \file
/// Finds loops that wait, which read one address until its value changes. KernelHazards takes them
/// as a hint.
#pragma once

#include "Ptx/PtxLexer.h"

namespace carve {

/// Whether \p Body (roles set) has a loop that waits. Such a loop has no store and no call. It
/// reads one address by a volatile, relaxed or acquire load, or by an atomic operation whose
/// operands do not change, and the value that it reads decides whether the loop is left or
/// repeated. A compare-and-swap loop that computes its new value does not wait. Loops on shared
/// memory are not counted, because only threads of one block can meet there.
bool hasSpinLoop(llvm::StringRef Text, llvm::ArrayRef<PtxToken> Body);

} // namespace carve
