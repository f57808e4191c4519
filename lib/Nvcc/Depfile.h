/// \file
/// Extends the depfile that nvcc writes beside an output: an output also depends on the decisions
/// that were put into it.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace carve {

/// Returns true if \p Path can appear in a depfile so that Make and Ninja both read it unchanged.
bool fitsDepfile(llvm::StringRef Path);

/// Returns \p Depfile, a text that nvcc wrote, with \p Paths as further prerequisites in its first
/// rule. Each also gets an empty rule, as -MP makes for headers, so that a missing file causes a
/// rebuild instead of an error. Fails with Unsupported `unknown-depfile` if no target is found.
llvm::Expected<std::string> withPrerequisites(llvm::StringRef Depfile,
                                              llvm::ArrayRef<std::string> Paths);

} // namespace carve
