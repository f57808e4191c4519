/// \file
/// Handing a command to the real nvcc as it is, and leaving its output as it made it: both with a
/// counted reason.
#pragma once

#include "Nvcc/Classification.h"
#include "Nvcc/Toolchain.h"
#include "Store/UnitStore.h"

namespace carve {

/// Becomes nvcc with \p Arguments, and counts why. Returns only if that fails.
llvm::Error fallBack(const Toolchain &T, const std::optional<UnitStore> &Store,
                     llvm::ArrayRef<std::string> Arguments, const Passthrough &Why);

/// Counts and logs \p E after nvcc has succeeded, where it is no failure of the command. \p What
/// says what did not happen: `nvcc's output kept`.
void countUntuned(UnitStore &Store, llvm::Error E, llvm::StringRef What);

} // namespace carve
