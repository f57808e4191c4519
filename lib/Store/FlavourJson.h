/// \file
/// The JSON form of an entry of `flavours/`: which blob the PTX is.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace carve {

std::string printFlavour(llvm::StringRef PtxDigest);

/// The digest of the PTX. Fails as parseUnit() does.
llvm::Expected<std::string> parseFlavour(llvm::StringRef Json, llvm::StringRef Name);

} // namespace carve
