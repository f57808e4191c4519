/// \file
/// Temporary directories that remove themselves. They are made in `<TMPDIR>/carve-nvcc-<uid>`,
/// which nobody else can write to, so that their names may be known before; each is locked while it
/// is in use, so that what a killed process left is told from what another one needs.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace carve {

/// A directory that is removed with all that is in it when the object goes.
class TempDir {
public:
  TempDir(TempDir &&Other) noexcept;
  TempDir &operator=(TempDir &&Other) noexcept;
  ~TempDir();

  /// A new directory with a name of its own that begins with \p Prefix.
  static llvm::Expected<TempDir> create(llvm::StringRef Prefix);
  /// The directory \p Name, the same every time. It stays locked until the last of the children
  /// that we start has stopped writing there, also where we are killed alone. Where another process
  /// holds it for longer than \p PatienceS, or somebody else's directory is where ours should be,
  /// it is one of another name, and the log says so.
  static llvm::Expected<TempDir> createNamed(llvm::StringRef Name, double PatienceS);
  /// The same for the directory \p Path itself, wherever it is. Fails with Unsupported
  /// `keep-dir-busy` where another process holds it for longer than a second.
  static llvm::Expected<TempDir> createLocked(llvm::StringRef Path);

  /// Whether children started from now on hold the lock too. One that does not write there, and may
  /// leave processes behind, must not.
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

/// Removes the temporary directories of ours that no process holds any more.
void sweepTempDirs();

} // namespace carve
