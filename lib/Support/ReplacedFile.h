/// \file
/// How one file comes into the place of another: as a temporary beside it that is renamed over it,
/// or, where that is impossible, written into it.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>

namespace carve {

/// A locked temporary in the directory of another file. Its name is made of that file's, so that
/// the next writer of the same file uses again what a killed one left; it does not grow with it.
class BesideFile {
public:
  /// Made with \p Mode less the umask; the default is a compiler's.
  static llvm::Expected<BesideFile> create(llvm::StringRef Target, mode_t Mode = 0666);
  BesideFile(BesideFile &&Other) noexcept;
  BesideFile &operator=(BesideFile &&) = delete;
  /// Removes the temporary where it was not placed.
  ~BesideFile();

  int fd() const { return Fd; }
  const std::string &path() const { return Path; }
  /// Renames it over the target. On failure it is removed, and the error names the target.
  llvm::Error place();
  /// The same, but what is there stays. Returns whether it was placed.
  llvm::Expected<bool> placeUnlessThere();

private:
  BesideFile(std::string Target, std::string Path, int Fd)
      : Target(std::move(Target)), Path(std::move(Path)), Fd(Fd) {}
  llvm::Error finish();
  std::string Target, Path;
  int Fd = -1;
};

/// What a file is to contain.
struct NewContent {
  uint64_t Bytes = 0;
  /// Writes it from the descriptor's position, the start of the file. May be called again.
  std::function<llvm::Error(int Fd)> Write;
  /// Permissions of the new file; absent: 0666 less the umask.
  std::optional<mode_t> Mode;
};

/// Makes \p Target, which is no symbolic link, a file with \p New. Where a temporary beside it or
/// the rename is refused (a directory that is not ours to write to, another user's file in a sticky
/// one, a mount point), writes into the file that is there, after its room is reserved: then its
/// old content is lost only where the device fails.
llvm::Error replaceFile(llvm::StringRef Target, const NewContent &New);

/// Writes \p New into the file \p Path, through links, or makes it.
llvm::Error writeInPlace(llvm::StringRef Path, const NewContent &New);

/// Removes what a killed writer of \p Target left beside it.
void sweepBeside(llvm::StringRef Target);

} // namespace carve
