/// \file
/// The packed form of a blob of the store: one line with the length, then the bytes compressed by
/// zstd. UnitStore writes and reads all its blobs in this form.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace carve {

/// Returns \p Bytes in packed form. It uses the fastest level of zstd, because a compile waits for
/// it.
std::string packBlob(llvm::StringRef Bytes);

/// Returns the bytes of the packed blob \p Packed. Fails if \p Packed is not a packed blob, is
/// damaged, or holds bytes whose digest is not \p Digest.
llvm::Expected<std::string> unpackBlob(llvm::StringRef Packed, llvm::StringRef Digest);

} // namespace carve
