/// \file
/// Files that are opened when the probe starts, because the program may later forbid itself every
/// call that names a file (seccomp): from then on only their descriptors are read and written.
#pragma once

#include <string>
#include <sys/types.h>

namespace carve::probe {

/// Opens \p Path as ::open() does, under a number that the program does not get for a file of its
/// own: above its limit of open files where the system allows, so that closing all descriptors up
/// to that limit, as daemons do, leaves it open. -1 where it cannot be opened.
int openApart(const char *Path, int Flags, mode_t Mode = 0);

/// A text of the system's, such as /proc/meminfo, that is to be read again and again.
class EarlyFile {
public:
  explicit EarlyFile(const char *Path);
  ~EarlyFile();
  EarlyFile(const EarlyFile &) = delete;
  EarlyFile &operator=(const EarlyFile &) = delete;

  /// Its text as it is now; empty if it cannot be read.
  std::string read() const;

private:
  int Fd;
};

} // namespace carve::probe
