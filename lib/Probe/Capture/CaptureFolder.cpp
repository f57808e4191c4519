#include "Probe/Capture/CaptureFolder.h"

#include "Protocol/CaptureRecords.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace carve;
using namespace carve::probe;

CaptureFolder::CaptureFolder(const std::string &Directory, size_t Wish)
    : Path(Directory + "/" + std::to_string(::getpid()) + "-" + std::to_string(Wish)),
      Text(headOf(CapturedFile) + "\n") {}

CaptureFolder::~CaptureFolder() {
  if (Memory >= 0)
    ::close(Memory);
}

/// Returns the failure of the system call that has just failed for \p Path.
static Failure failureAt(const std::string &Path) {
  return Failure(Path + ": " + std::strerror(errno));
}

static bool writeAll(int Fd, const char *Data, size_t Bytes, off_t At) {
  while (Bytes > 0) {
    ssize_t Done = ::pwrite(Fd, Data, Bytes, At);
    if (Done < 0 && errno == EINTR)
      continue;
    if (Done <= 0)
      return false;
    Data += Done;
    At += Done;
    Bytes -= size_t(Done);
  }
  return true;
}

Failure CaptureFolder::create() {
  if (::mkdir(Path.c_str(), 0777) != 0)
    return failureAt(Path);
  Memory = ::open((Path + "/memory").c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  return Memory >= 0 ? Failure::none() : failureAt(Path + "/memory");
}

Failure CaptureFolder::addMemory(const void *Data, size_t Bytes) {
  auto *From = static_cast<const char *>(Data);
  bool Zero = std::all_of(From, From + Bytes, [](char C) { return C == 0; });
  if (!Zero && !writeAll(Memory, From, Bytes, MemoryBytes))
    return failureAt(Path + "/memory");
  MemoryBytes += off_t(Bytes);
  return Failure::none();
}

Failure CaptureFolder::writeFile(const std::string &Name, const void *Data, size_t Bytes) const {
  std::string To = Path + "/" + Name;
  int Fd = ::open(To.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (Fd < 0)
    return failureAt(To);
  Failure Why =
      writeAll(Fd, static_cast<const char *>(Data), Bytes, 0) ? Failure::none() : failureAt(To);
  if (::close(Fd) != 0 && !Why)
    return failureAt(To);
  return Why;
}

Failure CaptureFolder::writeContainer(const void *Data, size_t Bytes) {
  return writeFile("container", Data, Bytes);
}

Failure CaptureFolder::complete() {
  add(RawEnd());
  // A hole at the end does not extend the file, so its size must be set.
  if (::ftruncate(Memory, MemoryBytes) != 0)
    return failureAt(Path + "/memory");
  if (Failure Why = writeFile("launch.part", Text.data(), Text.size()))
    return Why;
  std::string Part = Path + "/launch.part";
  return ::rename(Part.c_str(), (Path + "/launch").c_str()) == 0 ? Failure::none()
                                                                 : failureAt(Part);
}

void CaptureFolder::refuse(const std::string &Reason) {
  for (const char *Name : {"/memory", "/container", "/launch.part", "/launch"})
    ::unlink((Path + Name).c_str());
  ::rmdir(Path.c_str());
  std::string Line = oneLine(Reason) + "\n", To = Path + ".refused";
  int Fd = ::open(To.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (Fd < 0)
    return;
  (void)writeAll(Fd, Line.data(), Line.size(), 0);
  ::close(Fd);
}
