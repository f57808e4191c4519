/// \file
/// Opens regular files, so that nothing but their bytes is read. Every reader of a file uses it if
/// somebody else may have put a pipe, a device or an oversized file in its place.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <sys/stat.h>

namespace carve {

/// The size limit for each kind of file, in bytes. No file that nvcc or we write comes near its
/// limit. A larger file is refused before it is read.
struct FileLimit {
  static constexpr uint64_t Options = uint64_t(16) << 20; ///< An options file of nvcc.
  static constexpr uint64_t Record = uint64_t(64) << 20;  ///< Records, reports, profiles, samples.
  static constexpr uint64_t Blob = uint64_t(1) << 30; ///< A blob of the store, packed or unpacked.
  static constexpr uint64_t Object = uint64_t(4) << 30; ///< PTX, cubins, objects, programs.
  static constexpr uint64_t None = UINT64_MAX; ///< A file that the user declared as output.
};

/// Says who may have written a file that is read.
enum class FileTrust {
  Anybody, ///< Links are followed.
  Ours,    ///< A link is refused, and so is a file that another user owns or may write.
};

/// Returns why a file or directory with this \p Status may be another user's work, with the remedy
/// for \p Path. Returns an empty text if only this user, root and the user \p AlsoTrusted can write
/// it.
std::string whyNotOurs(const struct stat &Status, llvm::StringRef Path,
                       std::optional<uid_t> AlsoTrusted = std::nullopt);

/// A regular file that is open for reading.
class RegularFile {
public:
  /// Opens \p Path. Fails with the path and the reason: the system's error, another kind of file,
  /// more than \p MostBytes bytes, or the result of whyNotOurs(). It never blocks, as opening a
  /// pipe would. It opens nothing but a regular file, because opening and closing a pipe would end
  /// the process that writes into it. FileTrust::Ours accepts files of the user \p AlsoTrusted,
  /// too.
  static llvm::Expected<RegularFile> open(llvm::StringRef Path, uint64_t MostBytes,
                                          FileTrust Trust = FileTrust::Anybody,
                                          std::optional<uid_t> AlsoTrusted = std::nullopt);
  RegularFile(RegularFile &&Other) noexcept;
  RegularFile &operator=(RegularFile &&) = delete;
  ~RegularFile();

  int descriptor() const { return Fd; }
  /// Returns all bytes, read rather than mapped. Fails if there are more than open() allowed.
  llvm::Expected<std::string> read() const;
  /// Returns all bytes, mapped if that pays. Use it only for files that nobody shortens meanwhile.
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> map() const;

private:
  RegularFile(std::string Path, int Fd, uint64_t Bytes, uint64_t MostBytes)
      : Path(std::move(Path)), Fd(Fd), Bytes(Bytes), MostBytes(MostBytes) {}
  std::string Path;
  int Fd;
  uint64_t Bytes, MostBytes;
};

} // namespace carve
