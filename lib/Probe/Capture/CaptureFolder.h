/// \file
/// The folder of one captured launch (CaptureProtocol.h): its files as they grow, given their final
/// name when they are whole, removed where the capture fails.
#pragma once

#include "Probe/Process/Failure.h"
#include "Protocol/RecordWriter.h"

#include <cstddef>
#include <string>
#include <sys/types.h>

namespace carve::probe {

class CaptureFolder {
public:
  /// For capture \p Wish of this process, below \p Directory.
  CaptureFolder(const std::string &Directory, size_t Wish);
  CaptureFolder(const CaptureFolder &) = delete;
  CaptureFolder &operator=(const CaptureFolder &) = delete;
  ~CaptureFolder();

  // Each of these fails where the file system refuses.

  Failure create();
  /// Adds to the memory file; bytes that are all 0 become a hole.
  Failure addMemory(const void *Data, size_t Bytes);
  Failure writeContainer(const void *Data, size_t Bytes);
  /// Everything is there: ends the text and gives it its name.
  Failure complete();

  /// Adds a record (Protocol/CaptureRecords.h) to the text.
  template <class T> void add(const T &Record) { Text += recordLine(Record); }
  /// Removes all files, and leaves \p Reason in their place.
  void refuse(const std::string &Reason);

private:
  Failure writeFile(const std::string &Name, const void *Data, size_t Bytes) const;

  std::string Path, Text;
  int Memory = -1;
  off_t MemoryBytes = 0;
};

} // namespace carve::probe
