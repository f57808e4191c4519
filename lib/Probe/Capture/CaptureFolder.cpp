#include "Probe/Capture/CaptureFolder.h"

#include "Probe/Process/RecordFile.h"
#include "Protocol/CaptureProtocol.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace carve::probe;

CaptureFolder::CaptureFolder(const std::string &Directory, size_t Wish)
    : Path(Directory + "/" + std::to_string(::getpid()) + "-" + std::to_string(Wish)) {
  addLine({"carve-captured", std::to_string(CaptureVersion)});
}

CaptureFolder::~CaptureFolder() {
  if (Memory >= 0)
    ::close(Memory);
}

bool CaptureFolder::failed(const std::string &Of) {
  Error = Of + ": " + std::strerror(errno);
  return false;
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

bool CaptureFolder::create() {
  if (::mkdir(Path.c_str(), 0777) != 0)
    return failed(Path);
  Memory = ::open((Path + "/memory").c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  return Memory >= 0 || failed(Path + "/memory");
}

bool CaptureFolder::addMemory(const void *Data, size_t Bytes) {
  auto *From = static_cast<const char *>(Data);
  bool Zero = std::all_of(From, From + Bytes, [](char C) { return C == 0; });
  if (!Zero && !writeAll(Memory, From, Bytes, MemoryBytes))
    return failed(Path + "/memory");
  MemoryBytes += off_t(Bytes);
  return true;
}

bool CaptureFolder::writeFile(const std::string &Name, const void *Data, size_t Bytes) {
  std::string To = Path + "/" + Name;
  int Fd = ::open(To.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (Fd < 0)
    return failed(To);
  bool Good = writeAll(Fd, static_cast<const char *>(Data), Bytes, 0);
  if (!Good)
    failed(To);
  return ::close(Fd) == 0 && Good;
}

bool CaptureFolder::writeContainer(const void *Data, size_t Bytes) {
  return writeFile("container", Data, Bytes);
}

void CaptureFolder::addLine(std::initializer_list<std::string_view> Fields) {
  Text += recordLine(Fields);
}

bool CaptureFolder::complete() {
  addLine({"end"});
  // A hole at the end is no part of the file yet.
  if (::ftruncate(Memory, MemoryBytes) != 0)
    return failed(Path + "/memory");
  std::string Part = Path + "/launch.part";
  return writeFile("launch.part", Text.data(), Text.size()) &&
         (::rename(Part.c_str(), (Path + "/launch").c_str()) == 0 || failed(Part));
}

void CaptureFolder::refuse(const std::string &Reason) {
  for (const char *Name : {"/memory", "/container", "/launch.part", "/launch"})
    ::unlink((Path + Name).c_str());
  ::rmdir(Path.c_str());
  std::string Line = recordLine({Reason}), To = Path + ".refused";
  int Fd = ::open(To.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (Fd < 0)
    return;
  (void)writeAll(Fd, Line.data(), Line.size(), 0);
  ::close(Fd);
}
