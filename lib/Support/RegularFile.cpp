#include "Support/RegularFile.h"

#include "Support/Error.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

using namespace carve;

static llvm::StringRef kindOf(mode_t Mode) {
  if (S_ISLNK(Mode))
    return "a symbolic link";
  if (S_ISDIR(Mode))
    return "a directory";
  if (S_ISFIFO(Mode))
    return "a pipe";
  if (S_ISSOCK(Mode))
    return "a socket";
  return "a device";
}

std::string carve::whyNotOurs(const struct stat &Status, llvm::StringRef Path,
                              std::optional<uid_t> AlsoTrusted) {
  uid_t Own = ::geteuid();
  if (AlsoTrusted && Status.st_uid != Own && Status.st_uid != 0 && Status.st_uid != *AlsoTrusted)
    return llvm::formatv("{0} is owned by user {1}, expected {2}, to whom the folder belongs", Path,
                         Status.st_uid, *AlsoTrusted);
  if (!AlsoTrusted && Status.st_uid != Own && Status.st_uid != 0)
    return llvm::formatv("{0} is owned by user {1}, expected {2}{3}; another user could have "
                         "written it: remove it, or run `chown {2} {0}` if you trust it",
                         Path, Status.st_uid, Own, Own == 0 ? "" : " or 0");
  // If the file has an access control list, the group bits are the most that the list grants.
  if (Status.st_mode & (S_IWGRP | S_IWOTH))
    return llvm::formatv("{0} has mode {1}, expected one that other users cannot write: run "
                         "`chmod -R go-w {0}` if you trust it",
                         Path, llvm::format("%04o", unsigned(Status.st_mode & 07777)));
  return "";
}

/// Fails if a file with this \p Status must not be opened and read.
static llvm::Error check(const struct stat &Status, llvm::StringRef Path, uint64_t MostBytes,
                         FileTrust Trust, std::optional<uid_t> AlsoTrusted) {
  if (!S_ISREG(Status.st_mode))
    return malformed(Path + ": is " + kindOf(Status.st_mode) + ", expected a regular file");
  if (Trust == FileTrust::Ours)
    if (std::string Why = whyNotOurs(Status, Path, AlsoTrusted); !Why.empty())
      return malformed(Why);
  if (uint64_t(Status.st_size) > MostBytes)
    return malformed(Path + ": has " + llvm::Twine(uint64_t(Status.st_size)) +
                     " bytes, expected at most " + llvm::Twine(MostBytes));
  return llvm::Error::success();
}

llvm::Expected<RegularFile> RegularFile::open(llvm::StringRef Path, uint64_t MostBytes,
                                              FileTrust Trust, std::optional<uid_t> AlsoTrusted) {
  std::string Name = Path.str();
  if (Path.contains('\0'))
    return malformed(llvm::StringRef(Name.c_str()) + ": expected a path without a null character");
  bool Follow = Trust == FileTrust::Anybody;
  struct stat Status;
  if ((Follow ? ::stat(Name.c_str(), &Status) : ::lstat(Name.c_str(), &Status)) != 0)
    return fileError(Path, errno);
  if (llvm::Error E = check(Status, Path, MostBytes, Trust, AlsoTrusted))
    return E;
  // Another file may have taken its place since the check, so the open must not block, and the
  // check is repeated.
  int Flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (Follow ? 0 : O_NOFOLLOW);
  int Fd = llvm::sys::RetryAfterSignal(-1, ::open, Name.c_str(), Flags);
  if (Fd < 0)
    return fileError(Path, errno);
  RegularFile File(std::move(Name), Fd, 0, MostBytes);
  if (::fstat(Fd, &Status) != 0)
    return fileError(Path, errno);
  if (llvm::Error E = check(Status, Path, MostBytes, Trust, AlsoTrusted))
    return E;
  File.Bytes = Status.st_size;
  return File;
}

RegularFile::RegularFile(RegularFile &&Other) noexcept
    : Path(std::move(Other.Path)), Fd(std::exchange(Other.Fd, -1)), Bytes(Other.Bytes),
      MostBytes(Other.MostBytes) {}

RegularFile::~RegularFile() {
  if (Fd >= 0)
    ::close(Fd);
}

llvm::Expected<std::string> RegularFile::read() const {
  // Reading one byte more than expected shows that the file ends there.
  constexpr uint64_t Least = 4096;
  std::string All;
  for (uint64_t Done = 0;;) {
    if (Done == All.size())
      All.resize(Done + std::max(Least, Bytes > Done ? Bytes - Done + 1 : Done));
    ssize_t Got = llvm::sys::RetryAfterSignal(-1, ::pread, Fd, All.data() + Done, All.size() - Done,
                                              off_t(Done));
    if (Got < 0)
      return fileError(Path, errno);
    Done += Got;
    if (Done > MostBytes)
      return malformed(Path + ": has more than " + llvm::Twine(MostBytes) +
                       " bytes, expected at most that");
    if (Got == 0) {
      All.resize(Done);
      return All;
    }
  }
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> RegularFile::map() const {
  auto Buffer = llvm::MemoryBuffer::getOpenFile(Fd, Path, Bytes, /*RequiresNullTerminator=*/false);
  if (!Buffer)
    return llvm::createFileError(Path, Buffer.getError());
  return std::move(*Buffer);
}
