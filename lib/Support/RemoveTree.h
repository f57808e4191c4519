/// \file
/// Removes files and directories without following symbolic links, so that nothing outside of them
/// is touched. It is async-signal-safe, because a signal handler removes temporaries with it
/// (SignalCleanup).
#pragma once

namespace carve {

/// Removes everything in the open directory \p Directory. Entries on another file system, and
/// entries that cannot be removed, stay.
void emptyDirectory(int Directory);

/// Removes the file \p Path, or the directory with its content. If \p Path is a link, only the link
/// is removed.
void removeTree(const char *Path);

} // namespace carve
