/// \file
/// Where the store keeps what: names of its folders and files, and a walk over them that tells
/// entries from temporaries and from what is not the store's at all.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Chrono.h"

#include <cstdint>
#include <string>
#include <vector>

namespace carve {

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
  Temporary
};

struct StoreEntry {
  EntryKind Kind;
  std::string Path;
  /// Digest, key or report name; of a container its digest, while the file is named by its unit or
  /// link.
  std::string Name;
  uint64_t Bytes = 0;
  llvm::sys::TimePoint<> Modified;
  bool Regular = true; ///< False of a link, a pipe, a directory: none that the store made.
};

/// Whether \p Name may become a part of a path: not empty, no separator, not hidden.
bool isEntryName(llvm::StringRef Name);

/// Why the store at \p Root is not to be used: whyNotOurs() of it or of one of its folders. Empty
/// where it is to be, and where it is not there yet.
std::string whyStoreRefused(llvm::StringRef Root);

/// `<Root>/<folder of Kind>`; containers and blobs have one more level below.
std::string entryFolder(llvm::StringRef Root, EntryKind Kind);

/// The file of an entry whose folder has no further level.
std::string entryPath(llvm::StringRef Root, EntryKind Kind, llvm::StringRef Name);

/// `<Root>/blobs/<xx>/<digest>`.
std::string blobPath(llvm::StringRef Root, llvm::StringRef Digest);

/// `<Root>/lock`, of StoreLock.
std::string lockPath(llvm::StringRef Root);

/// `<Root>/containers/<digest>`, the directory of the empty files named by unit or link.
std::string containerFolder(llvm::StringRef Root, llvm::StringRef Digest);

/// Removes the entry that leads from a container to a unit or link, where it is there.
void unlinkContainer(llvm::StringRef Root, llvm::StringRef Digest, llvm::StringRef Key);

/// Everything in the store at \p Root: blobs before units, links and flavours before containers.
/// Files that are not named as ours are left out, so that a store pointed at somebody's directory
/// by mistake destroys nothing there. Entries that another process removes meanwhile are left out
/// too.
std::vector<StoreEntry> storeEntries(llvm::StringRef Root);

/// The names of the entries of one kind, sorted.
std::vector<std::string> entryNames(llvm::StringRef Root, EntryKind Kind);

/// Removes the directory \p Path where nothing lies in it.
void removeIfEmpty(llvm::StringRef Path);

/// Removes the store's folders where nothing lies in them, and the root likewise.
void removeEmptyFolders(llvm::StringRef Root);

} // namespace carve
