/// \file
/// Regular files, opened so that nothing but their bytes is read: the way of every reader to a file
/// whose place somebody else may have filled, with a pipe, a device, or more than memory holds.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdint>
#include <memory>
#include <string>
#include <sys/stat.h>

namespace carve {

/// The most bytes that a file of each kind may have. None that nvcc or we make comes near it; what
/// is larger is refused before it is read.
struct FileLimit {
  static constexpr uint64_t Options = uint64_t(16) << 20; ///< An options file of nvcc.
  static constexpr uint64_t Record = uint64_t(64) << 20;  ///< Records, reports, profiles, samples.
  static constexpr uint64_t Blob = uint64_t(1) << 30;   ///< A blob of the store, and what it holds.
  static constexpr uint64_t Object = uint64_t(4) << 30; ///< PTX, cubins, objects, programs.
  static constexpr uint64_t None = UINT64_MAX;          ///< What a person declared as output.
};

/// Who may have written a file that is read.
enum class FileTrust {
  Anybody, ///< Links are followed.
  Ours,    ///< A link, and a file that another user owns or may write, are refused.
};

/// Why a file or directory of this \p Status may be another user's work, with the remedy for
/// \p Path; empty where only this user and root can write it.
std::string whyNotOurs(const struct stat &Status, llvm::StringRef Path);

/// A regular file, open for reading.
class RegularFile {
public:
  /// Fails with the path and the reason: the system's, another kind of file, more than
  /// \p MostBytes, or that of whyNotOurs(). Never waits, as opening a pipe would, and opens nothing
  /// but a regular file: to open a pipe and close it again would end whoever writes into it.
  static llvm::Expected<RegularFile> open(llvm::StringRef Path, uint64_t MostBytes,
                                          FileTrust Trust = FileTrust::Anybody);
  RegularFile(RegularFile &&Other) noexcept;
  RegularFile &operator=(RegularFile &&) = delete;
  ~RegularFile();

  int descriptor() const { return Fd; }
  /// All bytes, read and not mapped. Fails where there are more than open() was told.
  llvm::Expected<std::string> read() const;
  /// All bytes, mapped where that pays. For files that nobody shortens meanwhile.
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> map() const;

private:
  RegularFile(std::string Path, int Fd, uint64_t Bytes, uint64_t MostBytes)
      : Path(std::move(Path)), Fd(Fd), Bytes(Bytes), MostBytes(MostBytes) {}
  std::string Path;
  int Fd;
  uint64_t Bytes, MostBytes;
};

} // namespace carve
