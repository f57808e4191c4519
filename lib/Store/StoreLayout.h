/// \file
/// The layout of the store: the names of its folders and files, and a walk over them that
/// distinguishes entries from temporaries and from files that do not belong to the store.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Chrono.h"

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace carve {

/// The kinds of entries; each kind except Temporary has a folder of its own.
enum class EntryKind {
  Unit,
  Link,
  Blob,
  Flavour,
  Container,
  Decision,
  Attempt,
  Report,
  Search,
  Workload,
  Published,
  Temporary
};

/// One file of the store, found by storeEntries().
struct StoreEntry {
  EntryKind Kind;
  std::string Path;
  /// The digest, key or report name. For a container it is the digest, while the file itself is
  /// named after its unit or link.
  std::string Name;
  uint64_t Bytes = 0;
  llvm::sys::TimePoint<> Modified;
  /// False for a link, a pipe or a directory, which the store never creates as an entry.
  bool Regular = true;
};

/// Returns true if \p Name may become part of a path: it is not empty, has no separator or null
/// character, and does not start with a dot.
bool isEntryName(llvm::StringRef Name);

/// Returns why the store at \p Root must not be used: the result of whyNotOurs() for it or for one
/// of its folders, where \p AlsoTrusted is trusted beside this user and root. Returns an empty text
/// if the store may be used or does not exist yet.
std::string whyStoreRefused(llvm::StringRef Root, std::optional<uid_t> AlsoTrusted = std::nullopt);

/// Returns `<Root>/<folder of Kind>`. Containers, blobs and published decisions have one more level
/// below it.
std::string entryFolder(llvm::StringRef Root, EntryKind Kind);

/// Returns the path of an entry of a \p Kind without a further level.
std::string entryPath(llvm::StringRef Root, EntryKind Kind, llvm::StringRef Name);

/// Returns `<Root>/blobs/<xx>/<digest>`.
std::string blobPath(llvm::StringRef Root, llvm::StringRef Digest);

/// Returns `<Root>/lock`, the file that StoreLock locks.
std::string lockPath(llvm::StringRef Root);
/// Returns `<Root>/lock.held`, the lock of StoreLock where the file system's own locks do not do.
std::string linkLockPath(llvm::StringRef Root);
/// Returns `<Root>/publish.held`, the lock of the one process that publishes into this store.
std::string publishLockPath(llvm::StringRef Root);

/// Returns `<Root>/containers/<digest>`, a directory of empty files that are named after units or
/// links.
std::string containerFolder(llvm::StringRef Root, llvm::StringRef Digest);

/// Removes the entry that leads from a container to a unit or link, if it exists.
void unlinkContainer(llvm::StringRef Root, llvm::StringRef Digest, llvm::StringRef Key);

/// Returns true if \p Name is 32 hexadecimal digits.
bool isDigestName(llvm::StringRef Name);

/// Returns every entry and temporary of the store at \p Root: blobs before units, links and
/// flavours, and these before containers. Files with other names are left out, so that a store that
/// points at an unrelated directory by mistake destroys nothing there. Entries that another process
/// removes meanwhile are left out, too.
std::vector<StoreEntry> storeEntries(llvm::StringRef Root);

/// Returns the names of all entries of one kind, sorted.
std::vector<std::string> entryNames(llvm::StringRef Root, EntryKind Kind);

/// Removes the directory \p Path if it is empty.
void removeIfEmpty(llvm::StringRef Path);

/// Removes the store's folders that are empty, and then its root if that is empty.
void removeEmptyFolders(llvm::StringRef Root);

} // namespace carve
