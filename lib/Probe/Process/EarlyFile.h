/// \file
/// Opens, while the process starts, the files that the probe reads later, and keeps their
/// descriptors. The program may later forbid itself every call that names a file (seccomp); from
/// then on only open descriptors can be read and written.
#pragma once

#include <string>
#include <sys/types.h>

namespace carve::probe {

/// Opens \p Path with \p Flags and \p Mode as ::open() does, and returns the descriptor, or -1 if
/// it cannot be opened. The descriptor has a number that the program does not get for a file of its
/// own. If the system allows it, the number lies above the program's limit of open files, so that a
/// daemon that closes all descriptors up to that limit leaves it open.
int openApart(const char *Path, int Flags, mode_t Mode = 0);

/// A text of the system, such as /proc/meminfo, that is opened once and read again and again.
class EarlyFile {
public:
  /// Opens \p Path. If that fails, read() returns an empty text.
  explicit EarlyFile(const char *Path);
  ~EarlyFile();
  EarlyFile(const EarlyFile &) = delete;
  EarlyFile &operator=(const EarlyFile &) = delete;

  /// Returns the text as it is now, or an empty text if it cannot be read.
  std::string read() const;

private:
  int Fd;
};

} // namespace carve::probe
