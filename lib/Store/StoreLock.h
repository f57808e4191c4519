/// \file
/// The lock on the store's records. It prevents others from changing records while one is written
/// or removed together with the entries that lead to it, or while blobs are removed together with
/// the records that name them. It is held only for moments, and readers never wait.
#pragma once

#include "Support/LinkLock.h"

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace carve {

/// Holds the lock as long as the object lives.
class StoreLock {
public:
  /// Waits for the lock of the store at \p Root. It is a lock of the file system if that is of this
  /// machine alone. On a network file system, or if the file system has no locks, it is a LinkLock:
  /// there a lock of the file system may be missing, or hold on this machine only. If a holder does
  /// not release the lock for about 20 seconds, or the store cannot be written, the caller goes on
  /// without it; verifyStore() finds the damage that this may cause.
  explicit StoreLock(llvm::StringRef Root);
  StoreLock(const StoreLock &) = delete;
  ~StoreLock();

  /// Shows others that the holder lives; for work that may take seconds.
  void renew();

private:
  int Fd = -1;
  std::optional<LinkLock> Linked;
};

} // namespace carve
