/// \file
/// Exchanges the names of kernels in a device image. The probe loads such an image, so that a clone
/// runs in place of its original.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <utility>

namespace carve {

/// Returns \p Bytes, a cubin, with the names of the two kernels of each pair exchanged, in symbols
/// and in section names. A program that asks for the first kernel gets the second one's code with
/// its registers, constants and shared memory. No other byte changes, with one exception: if a
/// table of names lacks a new name (because only one kernel of a pair has a bank of constants, for
/// example), an extended copy of the table is appended. Fails if a kernel is not in the image, or
/// if a name is in two pairs.
llvm::Expected<std::string>
exchangeKernelNames(llvm::StringRef Bytes,
                    llvm::ArrayRef<std::pair<std::string, std::string>> Pairs);

} // namespace carve
