/// \file
/// Removal of files and directories that follows no symbolic link, so that nothing outside of them
/// is ever touched. Async-signal-safe: it is what a signal handler removes temporaries with.
#pragma once

namespace carve {

/// Removes everything in the open directory \p Directory. What is on another file system, or cannot
/// be removed, stays.
void emptyDirectory(int Directory);

/// Removes the file \p Path, or the directory with all that is in it; of a link the link.
void removeTree(const char *Path);

} // namespace carve
