#include "Probe/Process/EarlyFile.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace carve;
using namespace carve::probe;

/// The largest descriptor numbers that are used above the limit (MostFiles) and below it
/// (FewFiles). A descriptor with a high number costs the kernel memory: a pointer for each number
/// below it.
static constexpr rlim_t MostFiles = 65536, FewFiles = 4096;
/// The size of the range of numbers in which the probe's descriptors are placed.
static constexpr rlim_t Places = 64;

/// Duplicates \p Fd to a number at or above the limit of open files, which no call of the program
/// returns. Returns -1 if the limit cannot be raised for that moment.
static int aboveLimit(int Fd, const rlimit &Limit) {
  if (Limit.rlim_cur > MostFiles || Limit.rlim_max < Limit.rlim_cur + Places)
    return -1;
  rlimit Raised{Limit.rlim_cur + Places, Limit.rlim_max};
  if (::setrlimit(RLIMIT_NOFILE, &Raised) != 0)
    return -1;
  int Apart = ::fcntl(Fd, F_DUPFD_CLOEXEC, static_cast<int>(Limit.rlim_cur));
  ::setrlimit(RLIMIT_NOFILE, &Limit);
  return Apart;
}

int carve::probe::openApart(const char *Path, int Flags, mode_t Mode) {
  int Fd = ::open(Path, Flags | O_CLOEXEC, Mode);
  rlimit Limit{};
  if (Fd < 0 || ::getrlimit(RLIMIT_NOFILE, &Limit) != 0)
    return Fd;
  int Apart = aboveLimit(Fd, Limit);
  rlim_t Most = std::min(Limit.rlim_cur, FewFiles);
  if (Apart < 0 && Most > Places)
    Apart = ::fcntl(Fd, F_DUPFD_CLOEXEC, static_cast<int>(Most - Places));
  if (Apart < 0)
    return Fd;
  ::close(Fd);
  return Apart;
}

EarlyFile::EarlyFile(const char *Path) : Fd(openApart(Path, O_RDONLY)) {}

EarlyFile::~EarlyFile() {
  if (Fd >= 0)
    ::close(Fd);
}

std::string EarlyFile::read() const {
  std::string Text;
  char Part[4096];
  while (Fd >= 0) {
    ssize_t Count = ::pread(Fd, Part, sizeof Part, static_cast<off_t>(Text.size()));
    if (Count < 0 && errno == EINTR)
      continue;
    if (Count <= 0)
      break;
    Text.append(Part, static_cast<size_t>(Count));
  }
  return Text;
}
