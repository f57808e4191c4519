#include "Probe/RecordFile.h"

#include "Probe/Protocol.h"

#include <cerrno>
#include <climits>
#include <ctime>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace carve::probe;

std::string carve::probe::recordLine(std::initializer_list<std::string_view> Fields) {
  std::string Line;
  for (std::string_view Field : Fields) {
    if (!Line.empty())
      Line += '\t';
    for (char C : Field)
      Line += static_cast<unsigned char>(C) < ' ' || C == 127 ? ' ' : C;
  }
  Line += '\n';
  return Line;
}

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
  Path = std::string(Dir) + "/" + Pid + "-" +
         std::to_string(Now.tv_sec * 1'000'000'000LL + Now.tv_nsec) + FileSuffix;
  Fd = ::open(Path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (Fd < 0 || !Self.read(Fd))
    return false;
  Closed = false;
  append(recordLine({"carve-probe", std::to_string(ProtocolVersion), Pid, executablePath()}));
  return !Closed;
}

RecordFile::~RecordFile() {
  if (isOurs(Fd))
    ::close(Fd);
}

bool RecordFile::owned() const { return ::getpid() == Owner; }

/// What makes a file itself: the number of one that is gone may be given to another.
bool RecordFile::Identity::read(int Descriptor) {
  struct statx Status;
  if (::statx(Descriptor, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &Status) != 0)
    return false;
  Major = Status.stx_dev_major;
  Minor = Status.stx_dev_minor;
  Inode = Status.stx_ino;
  bool Born = Status.stx_mask & STATX_BTIME;
  BornS = Born ? Status.stx_btime.tv_sec : 0;
  BornNs = Born ? Status.stx_btime.tv_nsec : 0;
  return true;
}

bool RecordFile::isOurs(int Descriptor) const {
  Identity Now;
  return Now.read(Descriptor) && Now == Self;
}

/// May run in a signal handler.
bool RecordFile::writeWhole(std::string_view Lines) const {
  int Saved = errno;
  int To = isOurs(Fd) ? Fd : ::open(Path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
  ssize_t Done = -1;
  if (isOurs(To))
    do
      Done = ::write(To, Lines.data(), Lines.size());
    while (Done < 0 && errno == EINTR);
  if (To >= 0 && To != Fd)
    ::close(To);
  errno = Saved;
  return Done == static_cast<ssize_t>(Lines.size());
}

void RecordFile::append(std::string_view Lines) {
  if (!Lines.empty() && !Closed && owned() && !writeWhole(Lines))
    Closed = true;
}

void RecordFile::seal() {
  if (owned() && !Closed.exchange(true))
    writeWhole("end\n");
}
