/// \file
/// Recognizes times in what a program prints.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace carve {

/// Returns \p Line with a mark in the place of each number that is a time or a rate by its unit,
/// such as `0.03 seconds`, `time (ms): 12.5`, `grind (us/zone): 3.5`, `5 GB/s` or `3.1 GFLOPS`, and
/// of a share of the time right after one, as in `0.2 s, 11 %` or `0.2 s (11%)`. The second time of
/// a line as LULESH prints it, `(us/z/c) = 0.12 (per dom) (0.12 overall)`, gets one, too. Blanks
/// become single ones. Two lines that differ in such numbers only become equal. Signs stay, and
/// `nan` is no time. A number with such a unit may be a result as well, such as the time that a
/// simulation has reached.
std::string withoutTimes(llvm::StringRef Line);

/// Returns the form of a line with times: withoutTimes() with a mark in the place of the words, so
/// that lines which a program prints by one format are equal: `0.1 s : READ INPUT` and
/// `0.3 s : COPY` are, and `0.3 ms : COPY` is another one.
std::string formOfTimes(llvm::StringRef Line);

} // namespace carve
