/// \file
/// Reads and writes the files of one store as files, whatever they hold: checks once whether
/// another user could have written them, opens a file anew that another machine has replaced, and
/// writes by a temporary that is renamed. UnitStore keeps its records and blobs in them.
///
/// The store reads no file that another user may have written, and no other user can write the
/// files that it creates. The site's store is only read: nothing in it is written or renewed.
/// Whoever owns its folder is trusted for what is in it.
#pragma once

#include "Support/RegularFile.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>

namespace carve {

/// The files of one store. Several threads and processes may use them at once.
class StoreFiles {
public:
  /// The files below \p Root. \p ReadOnly says that it is the store of a site.
  explicit StoreFiles(std::string Root, bool ReadOnly = false)
      : Root(std::move(Root)), ReadOnly(ReadOnly) {}
  const std::string &root() const { return Root; }
  /// Returns true if the store is used and can be written. Creates its directory if that is
  /// missing.
  bool writable() const;
  /// Returns why the store is not used: another user can write to it or to a folder in it. Returns
  /// an empty text if it is used.
  const std::string &refusal() const;
  /// Opens a file of the store. Fails if the store is refused, and as RegularFile::open() does.
  llvm::Expected<RegularFile> open(llvm::StringRef Path,
                                   uint64_t MostBytes = FileLimit::Record) const;
  /// Returns the content of a file of the store. Fails as open() does.
  llvm::Expected<std::string> readEntry(llvm::StringRef Path,
                                        uint64_t MostBytes = FileLimit::Record) const;
  /// Does the same, but returns nothing if the file does not exist. It does not ask the site.
  llvm::Expected<std::optional<std::string>> readIfThere(llvm::StringRef Path) const;
  /// Writes a file of the store by a temporary that is renamed, and creates its folders. A
  /// directory in its place is removed. Fails if the store is refused, is a site's, or cannot be
  /// written.
  llvm::Error write(llvm::StringRef Path, llvm::StringRef Bytes) const;

protected:
  /// Returns the error of everything that is asked of a store with a refusal().
  llvm::Error notUsed() const;
  /// Returns true if the error means that a file, or a directory above it, does not exist.
  static bool isMissing(const llvm::Error &Failed);
  /// Returns nothing instead of such an error.
  static llvm::Expected<std::optional<std::string>> ifThere(llvm::Expected<std::string> Text);
  /// Renews the age of \p Path. If the system refuses that, the entry is only evicted earlier than
  /// necessary. Returns false if the entry has gone already.
  static bool renewTime(const std::string &Path);
  /// Does the same, but not in a site's store.
  void renewAge(const std::string &Path) const;
  /// Logs that this store, which is a site's, is not used for something. Only the first reason is
  /// logged.
  void warnOnce(llvm::StringRef Why) const;

private:
  struct TrustState {
    std::once_flag Looked, Warned;
    std::string Refusal;
    std::optional<uid_t> Owner; ///< Of a site's folder.
  };
  std::string Root;
  bool ReadOnly;                                                      ///< The store of a site.
  std::shared_ptr<TrustState> Trust = std::make_shared<TrustState>(); ///< Shared by all copies.
};

} // namespace carve
