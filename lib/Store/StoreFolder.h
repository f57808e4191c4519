/// \file
/// The place of the store and its size limit, as the environment sets them.
#pragma once

#include "Nvcc/Toolchain.h"
#include "Store/UnitStore.h"

#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>

namespace carve {

/// Returns `$CARVE_STORE`, else `$XDG_CACHE_HOME/carve-nvcc`, else `~/.cache/carve-nvcc`; nothing
/// if there is no home directory.
std::optional<std::string> storeRoot(GetEnv Env);

/// Returns `$CARVE_STORE_SITE` as an absolute path: the store of the site, which is read where
/// storeRoot() has nothing. Returns nothing if the variable is unset or empty.
std::optional<std::string> siteRoot(GetEnv Env);

/// Returns the store at \p Root, above which is the site's store that \p Env names.
UnitStore storeAt(std::string Root, GetEnv Env);

/// Returns the number of bytes that the store may take: `CARVE_STORE_SIZE` in megabytes, else 5 GB.
uint64_t storeLimit(GetEnv Env);

/// Returns the directory of the store that \p Env names. Fails with UsageError if there is no place
/// for one, or if another user can write to it.
llvm::Expected<std::string> storeFolder(GetEnv Env);

} // namespace carve
