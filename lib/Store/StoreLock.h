/// \file
/// Keeps others from changing the store's records while one is written or removed together with
/// the entries that lead to it, or while blobs go together with the records that name them. Held
/// for moments; readers never wait.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace carve {

class StoreLock {
public:
  /// Waits for the lock of the store at \p Root. Where the file system has no locks, or a holder
  /// does not let go for many seconds, the work is done without: what goes wrong then is found by
  /// verifyStore().
  explicit StoreLock(llvm::StringRef Root);
  StoreLock(const StoreLock &) = delete;
  ~StoreLock();

private:
  int Fd;
};

} // namespace carve
