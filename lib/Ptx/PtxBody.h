/// \file
/// What the body of an entry or function calls and refers to, found in its tokens.
#pragma once

#include "Ptx/PtxScanner.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace carve {

/// Fills in the fields `of a body` from its tokens, roles set.
void scanBody(llvm::StringRef Text, llvm::ArrayRef<PtxToken> Body, const ScannedPtx &Module,
              PtxItem &Item);

} // namespace carve
