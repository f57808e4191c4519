/// \file
/// Hands a command to the real nvcc unchanged, or leaves nvcc's output unchanged, and counts the
/// reason in both cases.
#pragma once

#include "Nvcc/Classification.h"
#include "Nvcc/Toolchain.h"
#include "Store/UnitStore.h"

namespace carve {

/// Becomes nvcc with \p Arguments and counts the reason. Returns only if that fails.
llvm::Error fallBack(const Toolchain &T, const std::optional<UnitStore> &Store,
                     llvm::ArrayRef<std::string> Arguments, const Passthrough &Why);

/// Counts and logs \p E after nvcc has succeeded, if it is a failure. The command itself does not
/// fail. \p What says what did not happen, e.g. `nvcc's output kept`.
void countUntuned(UnitStore &Store, llvm::Error E, llvm::StringRef What);

} // namespace carve
