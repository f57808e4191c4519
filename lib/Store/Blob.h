/// \file
/// The packed form of a blob of the store: a line with its length, then the bytes by zstd.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace carve {

/// Packs for speed: a compile waits for it.
std::string packBlob(llvm::StringRef Bytes);

/// Fails where \p Packed is no packed blob, is damaged, or holds other bytes than \p Digest names.
llvm::Expected<std::string> unpackBlob(llvm::StringRef Packed, llvm::StringRef Digest);

} // namespace carve
