/// \file
/// Whole files: read, and written atomically.
#pragma once

#include "Support/RegularFile.h"
#include "Support/TempDir.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace carve {

/// The bytes of the regular file \p Path. Fails as RegularFile::open() does, and never waits.
llvm::Expected<std::string> readFile(llvm::StringRef Path, uint64_t MostBytes = FileLimit::Object);

/// The bytes of a file that a person named to be read, which may be a pipe (`<(git show ...)`):
/// then it is read to its end, which may not come.
llvm::Expected<std::string> readFileOrPipe(llvm::StringRef Path, uint64_t MostBytes);

/// The text of a file of /proc, of which the system tells no size. Nothing where it is not there.
std::optional<std::string> readProcFile(llvm::StringRef Path);

/// Writes \p Bytes to a temporary beside \p Path and renames it over \p Path, so that a reader
/// sees the old or the new content, never a part. The mode is that of the file replaced, or 0666
/// less the umask. On failure (a full disk, for example) the temporary is removed and \p Path is
/// as before. A symbolic link is followed: the file that it names is replaced. A device or a pipe
/// is written into, and so is a file beside which there can be no temporary (ReplacedFile.h).
llvm::Error writeFileAtomically(llvm::StringRef Path, llvm::StringRef Bytes);
/// The same, with the time of modification \p Modified.
llvm::Error writeFileAtomically(llvm::StringRef Path, llvm::StringRef Bytes,
                                llvm::sys::TimePoint<> Modified);

/// \p Path, made absolute by \p Dir where it is relative.
std::string absolutePath(llvm::StringRef Path, llvm::StringRef Dir);

/// The same without `.` and `..`. Symbolic links are left alone.
std::string normalisedPath(llvm::StringRef Path, llvm::StringRef Dir);
/// Of a path that is relative to the working directory of this process.
std::string normalisedPath(llvm::StringRef Path);

/// A fresh name beside \p Path.
std::string temporaryBeside(llvm::StringRef Path);

/// The file that \p Path names through symbolic links; \p Path itself if it does not exist yet.
std::string resolveTarget(llvm::StringRef Path);

} // namespace carve
