#include "Probe/Process/RecordFile.h"

#include "Probe/Process/EarlyFile.h"
#include "Protocol/Protocol.h"

#include <cerrno>
#include <climits>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>

using namespace carve;
using namespace carve::probe;

static std::string executablePath() {
  char Path[PATH_MAX];
  ssize_t Length = ::readlink("/proc/self/exe", Path, sizeof Path);
  return Length > 0 ? std::string(Path, static_cast<size_t>(Length)) : "-";
}

bool RecordFile::create(const char *Dir) {
  Owner = ::getpid();
  timespec Now{};
  ::clock_gettime(CLOCK_REALTIME, &Now);
  std::string Pid = std::to_string(Owner);
  std::string Path = std::string(Dir) + "/" + Pid + "-" +
                     std::to_string(Now.tv_sec * 1'000'000'000LL + Now.tv_nsec) + FileSuffix;
  Fd = openApart(Path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL, 0666);
  if (Fd < 0)
    return false;
  Closed = false;
  add(ProcessRecord{ProbeFile.Version, unsigned(Owner), executablePath()});
  return !Closed;
}

RecordFile::~RecordFile() {
  if (Fd >= 0)
    ::close(Fd);
}

bool RecordFile::owned() const { return ::getpid() == Owner; }

/// This function may run in a signal handler.
bool RecordFile::writeWhole(std::string_view Lines) const {
  int Saved = errno;
  ssize_t Done = -1;
  do
    Done = ::write(Fd, Lines.data(), Lines.size());
  while (Done < 0 && errno == EINTR);
  errno = Saved;
  return Done == static_cast<ssize_t>(Lines.size());
}

void RecordFile::append(std::string_view Lines) {
  if (!Lines.empty() && !Closed && owned() && !writeWhole(Lines))
    Closed = true;
}

void RecordFile::seal() {
  if (owned() && !Closed.exchange(true))
    writeWhole(End);
}
