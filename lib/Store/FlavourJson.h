/// \file
/// The JSON form of an entry of the store's folder `flavours/` (FlavourPtx.h): the name of the blob
/// that holds the PTX. UnitStore writes and reads it.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace carve {

/// Returns the JSON text of an entry whose PTX is the blob \p PtxDigest.
std::string printFlavour(llvm::StringRef PtxDigest);

/// Returns the digest of the PTX in the entry \p Json. Fails as parseUnit() does; \p Name is for
/// messages.
llvm::Expected<std::string> parseFlavour(llvm::StringRef Json, llvm::StringRef Name);

} // namespace carve
