#include "Support/Files.h"

#include "Support/Error.h"
#include "Support/ReplacedFile.h"

#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <climits>
#include <fcntl.h>
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
  (void)fs::current_path(Dir);
  return normalisedPath(Path, Dir);
}

std::string carve::resolveTarget(llvm::StringRef Path) {
  llvm::SmallString<256> Real;
  if (!fs::real_path(Path, Real))
    return Real.str().str();
  // A link may name a file that does not exist yet. The compiler would create that file.
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

/// Writes into the device or pipe at \p Path, which no file may replace.
static llvm::Error writeInto(llvm::StringRef Path, llvm::StringRef Bytes) {
  int Fd = ::open(Path.str().c_str(), O_WRONLY | O_CLOEXEC);
  if (Fd < 0)
    return fileError(Path, errno);
  llvm::Error Failed = writeAll(Fd, Path, Bytes);
  if (::close(Fd) != 0 && !Failed)
    Failed = fileError(Path, errno);
  return Failed;
}

static llvm::Error writeDated(int Fd, llvm::StringRef Path, llvm::StringRef Bytes,
                              const llvm::sys::TimePoint<> *Modified) {
  if (llvm::Error Failed = writeAll(Fd, Path, Bytes))
    return Failed;
  if (Modified)
    if (std::error_code E = fs::setLastAccessAndModificationTime(Fd, *Modified))
      return llvm::createFileError(Path, E);
  return llvm::Error::success();
}

static llvm::Error writeWhole(llvm::StringRef Path, llvm::StringRef Bytes,
                              const llvm::sys::TimePoint<> *Modified) {
  struct stat There;
  bool Exists = ::stat(Path.str().c_str(), &There) == 0;
  if (Exists && !S_ISREG(There.st_mode) && !S_ISDIR(There.st_mode))
    return writeInto(Path, Bytes);
  NewContent New;
  New.Bytes = Bytes.size();
  New.Write = [&](int Fd) { return writeDated(Fd, Path, Bytes, Modified); };
  if (Exists)
    New.Mode = There.st_mode & 07777;
  return replaceFile(resolveTarget(Path), New);
}

llvm::Error carve::writeFileAtomically(llvm::StringRef Path, llvm::StringRef Bytes) {
  return writeWhole(Path, Bytes, nullptr);
}

llvm::Error carve::writeFileAtomically(llvm::StringRef Path, llvm::StringRef Bytes,
                                       llvm::sys::TimePoint<> Modified) {
  return writeWhole(Path, Bytes, &Modified);
}
