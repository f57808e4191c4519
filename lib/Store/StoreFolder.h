/// \file
/// Where the store is, and how large it may become, as the environment says.
#pragma once

#include "Nvcc/Toolchain.h"

#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>

namespace carve {

/// `$CARVE_STORE`, else `$XDG_CACHE_HOME/carve-nvcc`, else `~/.cache/carve-nvcc`; nothing where
/// there is no home.
std::optional<std::string> storeRoot(GetEnv Env);

/// Bytes that the store may take: `CARVE_STORE_SIZE` in megabytes, else 5 GB.
uint64_t storeLimit(GetEnv Env);

/// The directory of the store that \p Env names. Fails with UsageError where none can
/// be, and where another user can write it.
llvm::Expected<std::string> storeFolder(GetEnv Env);

} // namespace carve
