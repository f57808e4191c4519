/// \file
/// Lists the blobs that a record refers to. A record is useless without them, so UnitStore and
/// StoreUpkeep check for them.
#pragma once

#include "Store/DeviceLink.h"
#include "Store/Unit.h"

namespace carve {

/// Each returns the digests of the blobs that a record names. Some may be empty.
std::vector<std::string> blobsOf(const Unit &U);
std::vector<std::string> blobsOf(const DeviceLink &L);

/// Fails if the store at \p Root lacks one of \p Digests, and names the first that is missing.
/// Empty digests are skipped.
llvm::Error checkBlobs(llvm::StringRef Root, llvm::ArrayRef<std::string> Digests);

} // namespace carve
