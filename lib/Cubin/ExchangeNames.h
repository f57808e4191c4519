/// \file
/// The exchange of two kernels' names in a device image, by which the probe's image runs a clone in
/// the place of its original.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <utility>

namespace carve {

/// \p Bytes with the names of the two kernels of each pair exchanged, in symbols and in section
/// names, so that a program asking for the first gets the second's code, with its registers,
/// constants and shared memory. No other byte changes, except that a table of names which lacks one
/// (only one kernel of a pair has, say, a bank of constants) is repeated, grown, behind the rest.
/// Fails where a name is absent or stands in two pairs.
llvm::Expected<std::string>
exchangeKernelNames(llvm::StringRef Bytes,
                    llvm::ArrayRef<std::pair<std::string, std::string>> Pairs);

} // namespace carve
