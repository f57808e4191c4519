/// \file
/// Reads whole files, writes whole files atomically, and makes paths absolute.
#pragma once

#include "Support/RegularFile.h"
#include "Support/TempDir.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace carve {

/// Returns the bytes of the regular file \p Path. It never blocks. Fails as RegularFile::open()
/// does, for example if the file has more than \p MostBytes bytes.
llvm::Expected<std::string> readFile(llvm::StringRef Path, uint64_t MostBytes = FileLimit::Object);

/// Returns the bytes of a file that the user named. It may be a pipe (`<(git show ...)`), which is
/// read to its end, even if that blocks. Fails as readFile() does.
llvm::Expected<std::string> readFileOrPipe(llvm::StringRef Path, uint64_t MostBytes);

/// Returns the text of a file of /proc, for which the system reports no size; nothing if it cannot
/// be read.
std::optional<std::string> readProcFile(llvm::StringRef Path);

/// Writes \p Bytes to a temporary beside \p Path and renames it over \p Path, so that a reader sees
/// the old or the new content, never a part. The new file has the mode of the replaced one, or 0666
/// less the umask. On failure (e.g. a full disk) the temporary is removed and \p Path is unchanged.
/// A symbolic link is followed: the file that it names is replaced. A device or a pipe is written
/// to directly. A file whose directory allows no temporary is also written in place
/// (ReplacedFile.h).
llvm::Error writeFileAtomically(llvm::StringRef Path, llvm::StringRef Bytes);
/// Does the same and sets the modification time to \p Modified.
llvm::Error writeFileAtomically(llvm::StringRef Path, llvm::StringRef Bytes,
                                llvm::sys::TimePoint<> Modified);

/// Returns \p Path, joined to \p Dir if it is relative.
std::string absolutePath(llvm::StringRef Path, llvm::StringRef Dir);

/// Returns the absolute path without `.` and `..`. Symbolic links are not resolved.
std::string normalisedPath(llvm::StringRef Path, llvm::StringRef Dir);
/// Does the same for a path that is relative to the working directory of this process.
std::string normalisedPath(llvm::StringRef Path);

/// Returns a fresh name for a temporary in the directory of \p Path.
std::string temporaryBeside(llvm::StringRef Path);

/// Returns the file that \p Path names through symbolic links, or \p Path itself if it does not
/// exist yet.
std::string resolveTarget(llvm::StringRef Path);

} // namespace carve
