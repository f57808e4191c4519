/// \file
/// The blobs that a record refers to, without which it is of no use.
#pragma once

#include "Store/DeviceLink.h"
#include "Store/Unit.h"

namespace carve {

std::vector<std::string> blobsOf(const Unit &U);
std::vector<std::string> blobsOf(const DeviceLink &L);

/// Fails with the first of \p Digests that the store at \p Root does not have.
llvm::Error checkBlobs(llvm::StringRef Root, llvm::ArrayRef<std::string> Digests);

} // namespace carve
