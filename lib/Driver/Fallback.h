/// \file
/// Handing a command to the real nvcc as it is, with a counted reason.
#pragma once

#include "Nvcc/Toolchain.h"
#include "Store/UnitStore.h"

namespace carve {

/// Becomes nvcc with \p Arguments. Returns only where that fails.
llvm::Error fallBack(const Toolchain &T, const std::optional<UnitStore> &Store,
                     llvm::ArrayRef<std::string> Arguments, llvm::StringRef Reason,
                     llvm::StringRef Detail);

} // namespace carve
