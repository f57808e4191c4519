/// \file
/// Writes files that belong to us alone, such as those of the store. Whatever the umask, no other
/// user can write them. A link or a pipe in their place is replaced and never followed.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <system_error>

namespace carve {

/// The mode of our files before the umask is applied. The group may at most read them.
inline constexpr unsigned OwnFileMode = 0644, OwnDirectoryMode = 0755;

/// Replaces \p Path by a file with \p Bytes, through a temporary beside it and a rename. \p
/// Modified is its modification time; absent means now. Fails if the directory cannot be written.
llvm::Error writeOwnFile(llvm::StringRef Path, llvm::StringRef Bytes,
                         std::optional<llvm::sys::TimePoint<>> Modified = std::nullopt);

/// Creates \p Path if nothing exists there. Otherwise it changes nothing and returns false.
llvm::Expected<bool> createOwnFile(llvm::StringRef Path, llvm::StringRef Bytes,
                                   llvm::sys::TimePoint<> Modified);

/// Creates the directory \p Path and its missing parents.
std::error_code createOwnDirectories(llvm::StringRef Path);

} // namespace carve
