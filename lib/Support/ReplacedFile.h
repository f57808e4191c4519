/// \file
/// Replaces a file by a new one: by a temporary beside it that is renamed over it, or, if that is
/// impossible, by writing into it.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>

namespace carve {

/// A locked temporary in the directory of another file. Its name is derived from that file's name
/// and the host's, so that the next writer of the same file reuses what a killed writer left. The
/// name has a fixed length.
class BesideFile {
public:
  /// Creates the temporary with \p Mode less the umask. The default mode is that of a compiler.
  /// Fails if the directory cannot be written; the error names the target.
  static llvm::Expected<BesideFile> create(llvm::StringRef Target, mode_t Mode = 0666);
  BesideFile(BesideFile &&Other) noexcept;
  BesideFile &operator=(BesideFile &&) = delete;
  /// Removes the temporary if it was not placed.
  ~BesideFile();

  int fd() const { return Fd; }
  const std::string &path() const { return Path; }
  /// Renames the temporary over the target. On failure it is removed, and the error names the
  /// target.
  llvm::Error place();
  /// Does the same unless the target exists. Returns true if the temporary was placed.
  llvm::Expected<bool> placeUnlessThere();

private:
  BesideFile(std::string Target, std::string Path, int Fd)
      : Target(std::move(Target)), Path(std::move(Path)), Fd(Fd) {}
  llvm::Error finish();
  std::string Target, Path;
  int Fd = -1;
};

/// The content of a new file, and its mode.
struct NewContent {
  uint64_t Bytes = 0;
  /// Writes the content from the descriptor's position, which is the start of the file. It may be
  /// called again.
  std::function<llvm::Error(int Fd)> Write;
  /// Permissions of the new file; absent means 0666 less the umask.
  std::optional<mode_t> Mode;
};

/// Replaces \p Target, which must not be a symbolic link, by a file with \p New. A temporary beside
/// it or the rename may be refused: the directory is not ours to write, the file belongs to another
/// user in a sticky directory, or it is a mount point. Then the existing file is written after its
/// space has been reserved, so that its old content is lost only if the device fails.
llvm::Error replaceFile(llvm::StringRef Target, const NewContent &New);

/// Writes \p New into the file \p Path, following links, or creates it.
llvm::Error writeInPlace(llvm::StringRef Path, const NewContent &New);

/// Removes what a killed writer of \p Target left beside it.
void sweepBeside(llvm::StringRef Target);

} // namespace carve
