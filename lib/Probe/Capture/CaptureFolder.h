/// \file
/// The folder of one captured launch (CaptureProtocol.h): its files as they grow, given their final
/// name when they are whole, removed where the capture fails.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace carve::probe {

class CaptureFolder {
public:
  /// For capture \p Wish of this process, below \p Directory.
  CaptureFolder(const std::string &Directory, size_t Wish);
  CaptureFolder(const CaptureFolder &) = delete;
  CaptureFolder &operator=(const CaptureFolder &) = delete;
  ~CaptureFolder();

  /// Each returns false where the file system refuses; error() then says why.
  bool create();
  /// Adds to the memory file; bytes that are all 0 become a hole.
  bool addMemory(const void *Data, size_t Bytes);
  bool writeContainer(const void *Data, size_t Bytes);
  /// Everything is there: ends the text and gives it its name.
  bool complete();

  /// Adds a line to the text.
  void addLine(std::initializer_list<std::string_view> Fields);
  void addText(std::string_view Whole) { Text += Whole; }
  /// Removes all files, and leaves \p Reason in their place.
  void refuse(const std::string &Reason);

  const std::string &error() const { return Error; }

private:
  bool failed(const std::string &Path);
  bool writeFile(const std::string &Name, const void *Data, size_t Bytes);

  std::string Path, Text, Error;
  int Memory = -1;
  off_t MemoryBytes = 0;
};

} // namespace carve::probe
