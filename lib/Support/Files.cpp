#include "Support/Files.h"

#include "Support/Error.h"
#include "Support/SignalCleanup.h"

#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

#include <climits>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace carve;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

llvm::Expected<std::string> carve::readFile(llvm::StringRef Path, uint64_t MostBytes) {
  llvm::Expected<RegularFile> File = RegularFile::open(Path, MostBytes);
  return File ? File->read() : File.takeError();
}

llvm::Expected<std::string> carve::readFileOrPipe(llvm::StringRef Path, uint64_t MostBytes) {
  struct stat Status;
  bool IsStream = ::stat(Path.str().c_str(), &Status) == 0 &&
                  (S_ISFIFO(Status.st_mode) || S_ISCHR(Status.st_mode));
  if (!IsStream)
    return readFile(Path, MostBytes);
  int Fd = llvm::sys::RetryAfterSignal(-1, ::open, Path.str().c_str(), O_RDONLY | O_CLOEXEC);
  if (Fd < 0)
    return fileError(Path, errno);
  std::string All;
  char Chunk[1 << 16];
  ssize_t Got = 0;
  while (All.size() <= MostBytes &&
         (Got = llvm::sys::RetryAfterSignal(-1, ::read, Fd, &Chunk[0], sizeof(Chunk))) > 0)
    All.append(Chunk, Got);
  int Errno = errno;
  ::close(Fd);
  if (Got < 0)
    return fileError(Path, Errno);
  if (All.size() > MostBytes)
    return malformed(Path + ": has more than " + llvm::Twine(MostBytes) +
                     " bytes, expected at most that");
  return All;
}

std::optional<std::string> carve::readProcFile(llvm::StringRef Path) {
  auto Buffer = llvm::MemoryBuffer::getFileAsStream(Path);
  if (!Buffer)
    return std::nullopt;
  return (*Buffer)->getBuffer().str();
}

std::string carve::absolutePath(llvm::StringRef Path, llvm::StringRef Dir) {
  llvm::SmallString<256> Full(Path);
  fs::make_absolute(Dir, Full);
  return Full.str().str();
}

std::string carve::normalisedPath(llvm::StringRef Path, llvm::StringRef Dir) {
  llvm::SmallString<256> Full(absolutePath(Path, Dir));
  path::remove_dots(Full, /*remove_dot_dot=*/true);
  return Full.str().str();
}

std::string carve::normalisedPath(llvm::StringRef Path) {
  llvm::SmallString<256> Dir;
  fs::current_path(Dir);
  return normalisedPath(Path, Dir);
}

std::string carve::resolveTarget(llvm::StringRef Path) {
  llvm::SmallString<256> Real;
  if (!fs::real_path(Path, Real))
    return Real.str().str();
  // A link to what is not there yet: the compiler would make it there.
  std::string Target = Path.str();
  char Next[PATH_MAX];
  for (int Links = 0; Links < 40; ++Links) {
    ssize_t Length = ::readlink(Target.c_str(), Next, sizeof(Next));
    if (Length <= 0 || Length == ssize_t(sizeof(Next)))
      break;
    llvm::StringRef Named(Next, Length);
    llvm::SmallString<256> To(path::is_absolute(Named) ? "" : path::parent_path(Target));
    path::append(To, Named);
    Target = To.str().str();
  }
  return Target;
}

std::string carve::temporaryBeside(llvm::StringRef Path) {
  llvm::SmallString<256> Model(resolveTarget(Path));
  Model += ".carve-%%%%%%%%";
  llvm::SmallString<256> Result;
  fs::createUniquePath(Model, Result, /*MakeAbsolute=*/false);
  return Result.str().str();
}

static llvm::Error writeAll(int Fd, llvm::StringRef Path, llvm::StringRef Bytes) {
  while (!Bytes.empty()) {
    ssize_t Done = llvm::sys::RetryAfterSignal(-1, ::write, Fd, Bytes.data(), Bytes.size());
    if (Done < 0)
      return fileError(Path, errno);
    Bytes = Bytes.drop_front(Done);
  }
  return llvm::Error::success();
}

/// \p Bytes in a new file beside \p Target, with its mode; returns the file's name.
static llvm::Expected<std::string> writeBeside(const std::string &Target, llvm::StringRef Bytes,
                                               const llvm::sys::TimePoint<> *Modified) {
  std::string Temporary = temporaryBeside(Target);
  // Opened with the mode that a compiler would use, so that the umask applies as usual.
  int Fd = ::open(Temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (Fd < 0)
    return fileError(Target, errno); // The user knows no other name.
  struct stat Old;
  if (::stat(Target.c_str(), &Old) == 0)
    (void)::fchmod(Fd, Old.st_mode & 07777);
  llvm::Error Failed = writeAll(Fd, Temporary, Bytes);
  if (!Failed && Modified)
    if (std::error_code E = fs::setLastAccessAndModificationTime(Fd, *Modified))
      Failed = llvm::createFileError(Temporary, E);
  if (::close(Fd) != 0 && !Failed)
    Failed = fileError(Temporary, errno);
  if (!Failed)
    return Temporary;
  ::unlink(Temporary.c_str());
  return Failed;
}

/// Writes into what stands at \p Path: a device or a pipe, in whose place no file may come.
static llvm::Error writeInto(llvm::StringRef Path, llvm::StringRef Bytes) {
  int Fd = ::open(Path.str().c_str(), O_WRONLY | O_CLOEXEC);
  if (Fd < 0)
    return fileError(Path, errno);
  llvm::Error Failed = writeAll(Fd, Path, Bytes);
  if (::close(Fd) != 0 && !Failed)
    Failed = fileError(Path, errno);
  return Failed;
}

static llvm::Error replaceFile(llvm::StringRef Path, llvm::StringRef Bytes,
                               const llvm::sys::TimePoint<> *Modified) {
  struct stat There;
  if (::stat(Path.str().c_str(), &There) == 0 && !S_ISREG(There.st_mode) && !S_ISDIR(There.st_mode))
    return writeInto(Path, Bytes);
  std::string Target = resolveTarget(Path);
  llvm::Expected<std::string> Temporary = writeBeside(Target, Bytes, Modified);
  if (!Temporary)
    return Temporary.takeError();
  if (::rename(Temporary->c_str(), Target.c_str()) == 0)
    return llvm::Error::success();
  int Errno = errno;
  ::unlink(Temporary->c_str());
  return fileError(Target, Errno);
}

llvm::Error carve::writeFileAtomically(llvm::StringRef Path, llvm::StringRef Bytes) {
  return replaceFile(Path, Bytes, nullptr);
}

llvm::Error carve::writeFileAtomically(llvm::StringRef Path, llvm::StringRef Bytes,
                                       llvm::sys::TimePoint<> Modified) {
  return replaceFile(Path, Bytes, &Modified);
}

TempDir::TempDir(TempDir &&Other) noexcept
    : Path(std::move(Other.Path)), LockFd(std::exchange(Other.LockFd, -1)) {
  Other.Path.clear();
}

TempDir &TempDir::operator=(TempDir &&Other) noexcept {
  if (this != &Other) {
    remove();
    Path = std::move(Other.Path);
    Other.Path.clear();
    LockFd = std::exchange(Other.LockFd, -1);
  }
  return *this;
}

TempDir::~TempDir() { remove(); }

void TempDir::remove() {
  if (!Path.empty()) {
    fs::remove_directories(Path, /*IgnoreErrors=*/true);
    forgetTemporary(Path);
    // The lock goes last: whoever waits for the name finds the directory gone.
    if (LockFd >= 0)
      ::unlink((Path + ".lock").c_str());
  }
  if (LockFd >= 0)
    ::close(LockFd);
  LockFd = -1;
  Path.clear();
}

/// Absolute, because its paths are given to programs that run in other directories.
static std::string temporaryRoot() {
  // nvcc looks at TMPDIR alone, and so do we.
  llvm::SmallString<256> Root("/tmp");
  if (auto Dir = llvm::sys::Process::GetEnv("TMPDIR"); Dir && !Dir->empty())
    Root = *Dir;
  fs::make_absolute(Root);
  return Root.str().str();
}

llvm::Expected<TempDir> TempDir::create(llvm::StringRef Prefix) {
  std::string Model = temporaryRoot() + "/" + Prefix.str() + "-XXXXXX";
  if (!::mkdtemp(Model.data()))
    return fileError(Model, errno);
  registerTemporary(Model);
  return TempDir(Model, -1);
}

void TempDir::passLockOn(bool ToChildren) {
  if (LockFd >= 0)
    ::fcntl(LockFd, F_SETFD, ToChildren ? 0 : FD_CLOEXEC);
}

/// Opens and locks \p Lock; -1 with errno EWOULDBLOCK where another process holds it.
static int lockFile(const std::string &Lock) {
  int Fd = ::open(Lock.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
  if (Fd < 0)
    return -1;
  struct stat Opened, Named;
  // The holder unlinks the file when it goes: a lock on an unlinked file protects nothing.
  if (::flock(Fd, LOCK_EX | LOCK_NB) == 0 && ::fstat(Fd, &Opened) == 0 &&
      ::lstat(Lock.c_str(), &Named) == 0 && Opened.st_ino == Named.st_ino &&
      Opened.st_uid == ::geteuid())
    return Fd;
  ::close(Fd);
  errno = EWOULDBLOCK;
  return -1;
}

llvm::Expected<TempDir> TempDir::createLocked(llvm::StringRef Path) {
  // Processes that were just killed hold it until they are gone.
  constexpr int Attempts = 50, PauseUs = 20000;
  std::string Lock = Path.str() + ".lock";
  int Fd = lockFile(Lock);
  for (int I = 1; Fd < 0 && errno == EWOULDBLOCK && I < Attempts; ++I) {
    ::usleep(PauseUs);
    Fd = lockFile(Lock);
  }
  if (Fd < 0 && errno == EWOULDBLOCK)
    return unsupported("keep-dir-busy", Path);
  if (Fd < 0)
    return fileError(Lock, errno);
  fs::remove_directories(Path, /*IgnoreErrors=*/true);
  if (::mkdir(Path.str().c_str(), 0700) != 0) {
    int Errno = errno;
    ::unlink(Lock.c_str());
    ::close(Fd);
    return fileError(Path, Errno);
  }
  return TempDir(Path.str(), Fd);
}
