/// \file
/// The capture file: written in one pass, read at random, every byte covered by a digest. Its form
/// is in share/doc/formats.md:
///
///   carve-capture <format>\n
///   sections           chunks of memory, containers and records, each by zstd on its own
///   index              JSON by zstd: the Capture, and the table of sections
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

inline constexpr char CaptureSuffix[] = ".carvecap";

/// A chunk as the file has it.
struct CaptureSection {
  uint64_t Offset = 0, StoredBytes = 0, Bytes = 0;
  std::string Digest; ///< Of the bytes as they were.
};

class CaptureWriter {
public:
  /// Begins a temporary file beside \p Path.
  static llvm::Expected<CaptureWriter> create(llvm::StringRef Path);
  CaptureWriter(CaptureWriter &&) noexcept;
  ~CaptureWriter(); ///< Removes the temporary file unless finish() has succeeded.

  /// Keeps \p Bytes; a chunk that is already there is not kept twice.
  CapturedBytes put(llvm::StringRef Bytes);
  /// The same for \p Bytes bytes of which \p Read gives those of one chunk at a time, by offset;
  /// what it gives is needed until it is called again.
  llvm::Expected<CapturedBytes>
  put(uint64_t Bytes,
      llvm::function_ref<llvm::Expected<llvm::StringRef>(uint64_t Offset, uint64_t Bytes)> Read);

  /// Completes the file and gives it its name.
  llvm::Error finish(const Capture &C);

private:
  CaptureWriter(std::string Path, BesideFile Temporary);
  uint64_t putChunk(llvm::StringRef Bytes);

  std::string Path;
  std::unique_ptr<BesideFile> Temporary;
  std::unique_ptr<llvm::raw_fd_ostream> Out;
  std::vector<CaptureSection> Sections;
  std::unordered_map<std::string, uint64_t> Known; ///< Digest to the section's number.
};

/// Every failure names the file, and what is damaged in it. A file that a newer carve wrote fails
/// with NewerFormat.
class CaptureReader {
public:
  static llvm::Expected<CaptureReader> open(llvm::StringRef Path);

  const Capture &capture() const { return Content; }
  uint64_t fileBytes() const { return File->getBufferSize(); }

  /// One chunk; \p What names the whole in messages.
  llvm::Expected<std::string> chunk(const CapturedBytes &B, size_t Index,
                                    const llvm::Twine &What) const;
  /// All chunks; fails where there are more than \p MostBytes.
  llvm::Expected<std::string> all(const CapturedBytes &B, const llvm::Twine &What,
                                  uint64_t MostBytes) const;

private:
  CaptureReader() = default;
  llvm::Error readIndex();

  std::string Path;
  std::unique_ptr<llvm::MemoryBuffer> File;
  std::vector<CaptureSection> Sections;
  Capture Content;
};

/// Bytes of the chunk \p Index of \p B.
uint64_t chunkBytes(const CapturedBytes &B, size_t Index);

} // namespace carve
