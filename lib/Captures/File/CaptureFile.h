/// \file
/// Writes and reads capture files. A file is written in one pass and read in any order, and every
/// byte is covered by a digest. Its format, which share/doc/formats.md describes, is:
///
///   carve-capture <format>\n
///   sections           chunks of memory, containers and records, each compressed by zstd
///   index              JSON compressed by zstd: the Capture, and the table of sections
///   carve-index <offset> <stored bytes> <bytes> <digest>\n
#pragma once

#include "Captures/File/Capture.h"
#include "Support/ReplacedFile.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <unordered_map>

namespace llvm {
class raw_fd_ostream;
} // namespace llvm

namespace carve {

/// The end of a capture file's name.
inline constexpr char CaptureSuffix[] = ".carvecap";

/// One chunk as it is stored in the file.
struct CaptureSection {
  uint64_t Offset = 0, StoredBytes = 0, Bytes = 0;
  std::string Digest; ///< The digest of the uncompressed bytes.
};

/// Writes one capture file.
class CaptureWriter {
public:
  /// Creates a temporary file beside \p Path. Fails if it cannot be created.
  static llvm::Expected<CaptureWriter> create(llvm::StringRef Path);
  CaptureWriter(CaptureWriter &&) noexcept;
  ~CaptureWriter(); ///< Removes the temporary file unless finish() has succeeded.

  /// Stores \p Bytes. A chunk that the file already has is not stored again.
  CapturedBytes put(llvm::StringRef Bytes);
  /// Stores \p Bytes bytes, of which \p Read returns one chunk at a time, by offset. A returned
  /// chunk must stay valid until the next call. Fails as \p Read does.
  llvm::Expected<CapturedBytes>
  put(uint64_t Bytes,
      llvm::function_ref<llvm::Expected<llvm::StringRef>(uint64_t Offset, uint64_t Bytes)> Read);

  /// Writes the index of \p C and gives the file its name. Fails if the file cannot be written.
  llvm::Error finish(const Capture &C);

private:
  CaptureWriter(std::string Path, BesideFile Temporary);
  uint64_t putChunk(llvm::StringRef Bytes);

  std::string Path;
  std::unique_ptr<BesideFile> Temporary;
  std::unique_ptr<llvm::raw_fd_ostream> Out;
  std::vector<CaptureSection> Sections;
  std::unordered_map<std::string, uint64_t> Known; ///< The number of the section with a digest.
};

/// Reads one capture file. Every failure names the file and the damaged part. A file that was
/// written by a newer carve fails with NewerFormat.
class CaptureReader {
public:
  /// Maps the file and reads its index.
  static llvm::Expected<CaptureReader> open(llvm::StringRef Path);

  const Capture &capture() const { return Content; }
  /// Returns the digest of the index, which has the digests of everything else in the file.
  const std::string &indexDigest() const { return IndexDigest; }
  uint64_t fileBytes() const { return File->getBufferSize(); }

  /// Returns chunk \p Index of \p B. \p What names \p B in messages.
  llvm::Expected<std::string> chunk(const CapturedBytes &B, size_t Index,
                                    const llvm::Twine &What) const;
  /// Returns all chunks of \p B. Fails if \p B has more than \p MostBytes bytes.
  llvm::Expected<std::string> all(const CapturedBytes &B, const llvm::Twine &What,
                                  uint64_t MostBytes) const;

private:
  CaptureReader() = default;
  llvm::Error readIndex();

  std::string Path;
  std::unique_ptr<llvm::MemoryBuffer> File;
  std::vector<CaptureSection> Sections;
  std::string IndexDigest;
  Capture Content;
};

/// Returns the number of bytes in chunk \p Index of \p B.
uint64_t chunkBytes(const CapturedBytes &B, size_t Index);

} // namespace carve
