#include "Compile/OutputPlace.h"

#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/ReplacedFile.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace carve;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// Returns true if the assembler and the linker write into the file that \p Path names, instead of
/// making a new one. Both use bfd_open_file() of binutils, which removes a file or a link of that
/// name if it has content, and opens what remains. So they write into a device, an empty file, and
/// the target of a dangling link.
static bool isWrittenThrough(const std::string &Path) {
  struct stat There;
  if (::stat(Path.c_str(), &There) != 0)
    return ::lstat(Path.c_str(), &There) == 0;
  return !S_ISREG(There.st_mode) || There.st_size == 0;
}

/// The content of a stand-in. It is not empty, because binutils removes only files with content.
static constexpr llvm::StringLiteral StandIn = "carve-nvcc: nvcc has not written this file\n";

static std::string directoryOf(llvm::StringRef Path) {
  llvm::StringRef Folder = path::parent_path(Path);
  return Folder.empty() ? "." : Folder.str();
}

/// Returns true if \p Path is a mount point, e.g. a file that is bound into a container.
static bool isMountPoint(const std::string &Path) {
  struct statx File, Folder;
  constexpr int Links = AT_SYMLINK_NOFOLLOW;
  return ::statx(AT_FDCWD, Path.c_str(), Links, STATX_MNT_ID, &File) == 0 &&
         ::statx(AT_FDCWD, directoryOf(Path).c_str(), 0, STATX_MNT_ID, &Folder) == 0 &&
         (File.stx_mask & Folder.stx_mask & STATX_MNT_ID) && File.stx_mnt_id != Folder.stx_mnt_id;
}

/// Returns true if a rename over the file \p Old in the directory \p Folder is refused.
static bool isRefusedRename(const struct stat &Old, const struct stat &Folder) {
  const uid_t User = ::geteuid();
  return (Folder.st_mode & S_ISVTX) && Old.st_uid != User && Folder.st_uid != User;
}

/// Returns true if the disk has room for a second file beside the existing one.
static bool hasRoom(const std::string &Target, uint64_t Bytes) {
  llvm::ErrorOr<fs::space_info> Space = fs::disk_space(directoryOf(Target));
  return !Space || Space->available >= 2 * Bytes;
}

OutputPlace::OutputPlace(std::string Path) : Path(std::move(Path)) {
  sweepBeside(isWrittenThrough(this->Path) ? resolveTarget(this->Path) : this->Path);
}

bool OutputPlace::canBeReplaced() const {
  struct stat Folder, Old;
  if (::stat(directoryOf(Path).c_str(), &Folder) != 0 ||
      ::access(directoryOf(Path).c_str(), W_OK | X_OK) != 0)
    return false;
  if (::lstat(Path.c_str(), &Old) != 0)
    return errno == ENOENT;
  return !isWrittenThrough(Path) && !isRefusedRename(Old, Folder) && !isMountPoint(Path) &&
         hasRoom(Path, Old.st_size);
}

llvm::Expected<std::string> OutputPlace::makeIn(const std::string &Folder) {
  if (std::error_code E = fs::create_directory(Folder))
    return llvm::createFileError(Folder, E);
  Made = Folder + "/" + path::filename(Path).str();
  struct stat Old;
  HasStandIn = ::lstat(Path.c_str(), &Old) == 0;
  if (HasStandIn)
    if (llvm::Error E = writeFileAtomically(Made, StandIn))
      return E;
  return Made;
}

bool OutputPlace::nvccMadeNone() const {
  uint64_t Bytes;
  if (fs::file_size(Made, Bytes))
    return true;
  if (!HasStandIn || Bytes != StandIn.size())
    return false;
  llvm::Expected<std::string> Text = readFile(Made);
  if (Text)
    return *Text == StandIn;
  llvm::consumeError(Text.takeError());
  return false;
}

void OutputPlace::removeAsNvccDid() {
  if (HasStandIn && !fs::exists(Made))
    ::unlink(Path.c_str());
}

static llvm::Error copyAll(int From, int To, llvm::StringRef Name) {
  if (::lseek(From, 0, SEEK_SET) != 0)
    return fileError(Name, errno);
  std::string Buffer(1 << 20, 0);
  for (;;) {
    ssize_t Bytes = llvm::sys::RetryAfterSignal(-1, ::read, From, Buffer.data(), Buffer.size());
    if (Bytes == 0)
      return llvm::Error::success();
    for (ssize_t Done = 0; Done < Bytes;) {
      ssize_t Written =
          llvm::sys::RetryAfterSignal(-1, ::write, To, Buffer.data() + Done, Bytes - Done);
      if (Written < 0)
        return fileError(Name, errno);
      Done += Written;
    }
    if (Bytes < 0)
      return fileError(Name, errno);
  }
}

/// Writes \p New into the file \p Target, which keeps its mode, its owner and its names.
static llvm::Error writeThrough(const std::string &Target, NewContent New) {
  struct stat Old;
  if (::lstat(Target.c_str(), &Old) != 0)
    return replaceFile(Target, New);
  if (!S_ISREG(Old.st_mode) || Old.st_nlink > 1 || Old.st_uid != ::geteuid())
    return writeInPlace(Target, New);
  // The linker makes its output executable.
  New.Mode = (Old.st_mode & 07777) | (New.Mode.value_or(0) & 0111);
  return replaceFile(Target, New);
}

/// Gives \p Path the content of \p From: as a new file, or through the existing one.
static llvm::Error put(const std::string &From, const std::string &Path, bool Through,
                       bool EvenInPlace) {
  int Fd = ::open(From.c_str(), O_RDONLY | O_CLOEXEC);
  if (Fd < 0)
    return fileError(From, errno);
  auto Close = llvm::make_scope_exit([Fd] { ::close(Fd); });
  struct stat Source;
  if (::fstat(Fd, &Source) != 0)
    return fileError(From, errno);
  NewContent New;
  New.Bytes = Source.st_size;
  New.Mode = Source.st_mode & 0777;
  New.Write = [&](int To) { return copyAll(Fd, To, Path); };
  llvm::Error Failed = Through ? writeThrough(resolveTarget(Path), New) : replaceFile(Path, New);
  if (!Failed || !EvenInPlace)
    return Failed;
  llvm::consumeError(std::move(Failed));
  return writeInPlace(Path, New);
}

llvm::Error OutputPlace::replaceBy(const std::string &Tuned) {
  // Whatever nvcc has just written is changed, because nvcc has already removed what it removes.
  if (llvm::Error Failed =
          put(Tuned, Path, nvccHasWritten() || isWrittenThrough(Path), /*EvenInPlace=*/false))
    return Failed;
  Placed = true;
  return llvm::Error::success();
}

llvm::Error OutputPlace::place() {
  if (nvccHasWritten() || nvccMadeNone())
    return llvm::Error::success();
  // No old content is worth more than the output: nvcc would have written over it.
  if (llvm::Error Failed = put(Made, Path, isWrittenThrough(Path), /*EvenInPlace=*/true))
    return Failed;
  Placed = true;
  return llvm::Error::success();
}
