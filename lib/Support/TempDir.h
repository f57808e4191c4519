/// \file
/// Temporary directories that remove themselves. They are created in `<TMPDIR>/carve-nvcc-<uid>`,
/// which no other user can write to, so predictable names are safe. Each is locked while it is in
/// use, so that a sweep can distinguish the leftovers of a killed process from directories that
/// another process needs.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace carve {

/// A directory that is removed with its content when the object is destroyed.
class TempDir {
public:
  TempDir(TempDir &&Other) noexcept;
  TempDir &operator=(TempDir &&Other) noexcept;
  ~TempDir();

  /// Creates a new directory with a unique name that begins with \p Prefix. Fails if it cannot be
  /// created.
  static llvm::Expected<TempDir> create(llvm::StringRef Prefix);
  /// Creates the directory \p Name, the same path every time. It stays locked until the last child
  /// that we started has stopped writing there, even if only we are killed. If another process
  /// holds it for longer than \p PatienceS seconds, or if another user's directory occupies the
  /// path, the directory gets another name, and the log says so.
  static llvm::Expected<TempDir> createNamed(llvm::StringRef Name, double PatienceS);
  /// Does the same for the directory \p Path itself, wherever it is. Fails with Unsupported
  /// `keep-dir-busy` if another process holds it for longer than a second.
  static llvm::Expected<TempDir> createLocked(llvm::StringRef Path);

  /// Says whether children that are started from now on also hold the lock. A child that does not
  /// write there and may leave processes behind must not hold it.
  void passLockOn(bool ToChildren);

  const std::string &path() const { return Path; }

private:
  TempDir(std::string Path, int LockFd);
  static llvm::Expected<TempDir> await(const std::string &Path, double PatienceS, bool InFolder);
  void remove();
  std::string Path;
  int LockFd = -1;
  bool Named = false;
};

/// Removes those of our temporary directories that no process holds any more.
void sweepTempDirs();

} // namespace carve
