/// \file
/// Files that we write for ourselves alone, the store's: whatever the umask, no other user can
/// write them, and what is in their place, a link or a pipe, is replaced and never followed.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <system_error>

namespace carve {

/// The mode of our files before the umask takes its part: the group may read them at most.
inline constexpr unsigned OwnFileMode = 0644, OwnDirectoryMode = 0755;

/// Puts \p Bytes into \p Path as a whole, by a temporary beside it and a rename. \p Modified: its
/// time of modification, where it is not to be now.
llvm::Error writeOwnFile(llvm::StringRef Path, llvm::StringRef Bytes,
                         std::optional<llvm::sys::TimePoint<>> Modified = std::nullopt);

/// The same where there is nothing yet. Returns false, and leaves what is there, otherwise.
llvm::Expected<bool> createOwnFile(llvm::StringRef Path, llvm::StringRef Bytes,
                                   llvm::sys::TimePoint<> Modified);

/// Makes the directory \p Path and those above it that are missing.
std::error_code createOwnDirectories(llvm::StringRef Path);

} // namespace carve
