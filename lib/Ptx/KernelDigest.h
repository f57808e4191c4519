/// \file
/// Computes the digest by which a decision finds its kernel again: that of the kernel's normalised
/// text. It is the implementation of PtxModule::kernelDigest().
#pragma once

#include "Ptx/PtxScanner.h"

namespace carve {

/// Returns the digest of \p Entry and of everything that it reaches in \p Text, which \p Module was
/// scanned from. Fails if the entry is not in the module.
llvm::Expected<std::string> kernelDigest(const ScannedPtx &Module, llvm::StringRef Text,
                                         llvm::StringRef Entry);

} // namespace carve
