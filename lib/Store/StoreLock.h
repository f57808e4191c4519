/// \file
/// The lock on the store's records. It prevents others from changing records while one is written
/// or removed together with the entries that lead to it, or while blobs are removed together with
/// the records that name them. It is held only for moments, and readers never wait.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace carve {

/// Holds the lock as long as the object lives.
class StoreLock {
public:
  /// Waits for the lock of the store at \p Root. If the file system has no locks, or a holder does
  /// not release the lock for about 20 seconds, the caller goes on without it; verifyStore() finds
  /// the damage that this may cause.
  explicit StoreLock(llvm::StringRef Root);
  StoreLock(const StoreLock &) = delete;
  ~StoreLock();

private:
  int Fd;
};

} // namespace carve
