/// \file
/// Recognizes times in what a program prints.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace carve {

/// Returns \p Line with a mark in the place of each number that is a time or a rate by its unit,
/// such as `0.03 seconds`, `time (ms): 12.5`, `5 GB/s` or `3.1 GFLOPS`, and with single blanks. Two
/// lines that differ in such numbers only become equal. Signs stay, and `nan` is no time. A number
/// with such a unit may be a result as well, such as the time that a simulation has reached.
std::string withoutTimes(llvm::StringRef Line);

} // namespace carve
