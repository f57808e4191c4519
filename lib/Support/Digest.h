/// \file
/// Content digests. They name the blobs in the store and identify device images and kernels.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace carve {

/// Returns the XXH3-128 digest of \p Bytes as 32 lower-case hexadecimal digits. The probe computes
/// the same value for the images that a program loads (Protocol/Protocol.h).
std::string digestOf(llvm::StringRef Bytes);

/// Returns the digest of several fields. Each is delimited by its length, so that two different
/// lists never give the same input by concatenation.
std::string digestOfFields(llvm::ArrayRef<llvm::StringRef> Fields);

} // namespace carve
