/// \file
/// The depfile that nvcc writes beside an output, and what carve adds to it: an output also depends
/// on the decisions that were put into it.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace carve {

/// Whether \p Path can stand in a depfile so that Make and Ninja both read it as it is.
bool fitsDepfile(llvm::StringRef Path);

/// \p Depfile, text that nvcc wrote, with \p Paths as further prerequisites of its target and an
/// empty rule for each, as -MP makes for headers: a file that is gone then means a rebuild and not
/// the end of one. Fails with Unsupported `unknown-depfile` where no target is found.
llvm::Expected<std::string> withPrerequisites(llvm::StringRef Depfile,
                                              llvm::ArrayRef<std::string> Paths);

} // namespace carve
