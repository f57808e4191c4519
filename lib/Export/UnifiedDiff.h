/// \file
/// Applies edits to a text and prints them as a unified diff in the format of `git apply` and
/// `patch -p1`. Every byte outside of the edits stays: line ends, tabs, encodings, and a missing
/// line end at the end of the file.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace carve {

/// Replaces \p Remove bytes at \p Offset by \p Insert.
struct SourceEdit {
  size_t Offset = 0, Remove = 0;
  std::string Insert;
};

/// Returns \p Text after \p Edits, which may have any order but must not overlap.
std::string applyEdits(llvm::StringRef Text, std::vector<SourceEdit> Edits);

/// Returns the edits of one file as its part of a patch, with three lines of context around each
/// change. \p Path is relative to the directory in which the patch is applied. Returns an empty
/// string if there are no edits.
std::string unifiedDiff(llvm::StringRef Path, llvm::StringRef Text, std::vector<SourceEdit> Edits);

} // namespace carve
