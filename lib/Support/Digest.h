/// \file
/// Content digests: names of blobs in the store, identities of device images and kernels.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace carve {

/// XXH3-128 of \p Bytes, as 32 lower-case hexadecimal digits. The probe computes the same value
/// of the images that a program loads (Protocol/Protocol.h).
std::string digestOf(llvm::StringRef Bytes);

/// The digest of several fields, each delimited by its length, so that no two lists collide by
/// concatenation.
std::string digestOfFields(llvm::ArrayRef<llvm::StringRef> Fields);

} // namespace carve
