/// \file
/// Writes the folder of one captured launch (CaptureProtocol.h). Files get their final names when
/// they are complete, and are removed if the capture fails.
#pragma once

#include "Probe/Process/Failure.h"
#include "Protocol/RecordWriter.h"

#include <cstddef>
#include <string>
#include <sys/types.h>

namespace carve::probe {

/// The folder of one capture.
class CaptureFolder {
public:
  /// Names the folder for the capture \p Wish of this process, below \p Directory; create() makes
  /// it.
  CaptureFolder(const std::string &Directory, size_t Wish);
  CaptureFolder(const CaptureFolder &) = delete;
  CaptureFolder &operator=(const CaptureFolder &) = delete;
  ~CaptureFolder();

  // Each of these functions fails if the file system refuses.

  Failure create();
  /// Appends to the memory file. Bytes that are all 0 become a hole.
  Failure addMemory(const void *Data, size_t Bytes);
  Failure writeContainer(const void *Data, size_t Bytes);
  /// Ends the text and gives it its final name, which says that the folder is complete.
  Failure complete();

  /// Adds a record (Protocol/CaptureRecords.h) to the text.
  template <class T> void add(const T &Record) { Text += recordLine(Record); }
  /// Removes all files, and writes a file with \p Reason instead.
  void refuse(const std::string &Reason);

private:
  Failure writeFile(const std::string &Name, const void *Data, size_t Bytes) const;

  std::string Path, Text;
  int Memory = -1;
  off_t MemoryBytes = 0;
};

} // namespace carve::probe
