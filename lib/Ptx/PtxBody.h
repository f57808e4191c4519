/// \file
/// Finds what the body of an entry or function calls and refers to. PtxScanner calls it when all
/// names of the module are known.
#pragma once

#include "Ptx/PtxScanner.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace carve {

/// Fills in the fields of \p Item that describe a body (PtxScanner.h). \p Body has its roles set,
/// and \p Module has all names of \p Text.
void scanBody(llvm::StringRef Text, llvm::ArrayRef<PtxToken> Body, const ScannedPtx &Module,
              PtxItem &Item);

} // namespace carve
