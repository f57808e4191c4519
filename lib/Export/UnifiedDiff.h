/// \file
/// Edits of a text and their unified diff, as `git apply` and `patch -p1` read it. Every byte
/// outside of the edits stays: ends of lines, tabs, encodings, a missing end of line at the end.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace carve {

/// Replaces \p Remove bytes at \p Offset.
struct SourceEdit {
  size_t Offset = 0, Remove = 0;
  std::string Insert;
};

/// \p Text with \p Edits, which do not overlap, in any order.
std::string applyEdits(llvm::StringRef Text, std::vector<SourceEdit> Edits);

/// The diff of the two as one file's part of a patch, with three lines around each change. \p Path
/// is relative to where the patch is applied. Empty where there are no edits.
std::string unifiedDiff(llvm::StringRef Path, llvm::StringRef Text, std::vector<SourceEdit> Edits);

} // namespace carve
