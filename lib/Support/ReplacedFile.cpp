#include "Support/ReplacedFile.h"

#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/SignalCleanup.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace carve;
namespace path = llvm::sys::path;

/// This many processes can write one file at once before names become random.
static constexpr int Slots = 8;

/// Returns the name of a temporary. StoreLayout recognises it by `.carve-`. Each host has names of
/// its own, because on some network file systems a lock on the file holds on one host only.
static std::string slotName(llvm::StringRef Target, int Slot) {
  llvm::SmallString<256> Name(path::parent_path(Target));
  char Host[256] = "";
  (void)::gethostname(Host, sizeof Host - 1);
  std::string Digest = digestOfFields({path::filename(Target), Host}).substr(0, 16);
  path::append(Name, ".carve-" + Digest + "-" + llvm::Twine(Slot));
  if (Slot < Slots)
    return Name.str().str();
  llvm::SmallString<256> Random;
  llvm::sys::fs::createUniquePath(Name + "-%%%%%%%%", Random, /*MakeAbsolute=*/false);
  return Random.str().str();
}

/// Returns true if the locked \p Fd is still the file that \p Path names.
static bool isNamed(int Fd, const std::string &Path) {
  struct stat Opened, Named;
  return ::fstat(Fd, &Opened) == 0 && ::lstat(Path.c_str(), &Named) == 0 &&
         Opened.st_ino == Named.st_ino && Opened.st_dev == Named.st_dev;
}

/// Removes the temporary \p Path if it is ours and no process writes to it any more. Returns true
/// if it was removed.
static bool removeLeftover(const std::string &Path) {
  int Fd = ::open(Path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (Fd < 0)
    return false;
  struct stat Opened;
  bool Removed = ::fstat(Fd, &Opened) == 0 && S_ISREG(Opened.st_mode) &&
                 Opened.st_uid == ::geteuid() && ::flock(Fd, LOCK_EX | LOCK_NB) == 0 &&
                 isNamed(Fd, Path) && ::unlink(Path.c_str()) == 0;
  ::close(Fd);
  return Removed;
}

void carve::sweepBeside(llvm::StringRef Target) {
  for (int Slot = 0; Slot < Slots; ++Slot)
    (void)removeLeftover(slotName(Target, Slot));
}

llvm::Expected<BesideFile> BesideFile::create(llvm::StringRef Target, mode_t Mode) {
  constexpr int Attempts = 100;
  UninterruptedWork Making;
  int Slot = 0;
  for (int Attempt = 0;; ++Attempt) {
    std::string Path = slotName(Target, Slot);
    int Fd = ::open(Path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, Mode);
    if (Fd < 0 && (errno != EEXIST || Attempt == Attempts))
      // The error names the target, because the user knows no other name.
      return fileError(Target, errno);
    if (Fd < 0) {
      Slot += !removeLeftover(Path);
      continue;
    }
    // A process that sweeps may have been faster.
    bool Held = ::flock(Fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!Held && isNamed(Fd, Path)) {
      registerTemporary(Path);
      return BesideFile(Target.str(), std::move(Path), Fd);
    }
    ::close(Fd);
  }
}

BesideFile::BesideFile(BesideFile &&Other) noexcept
    : Target(std::move(Other.Target)), Path(std::move(Other.Path)),
      Fd(std::exchange(Other.Fd, -1)) {
  Other.Path.clear();
}

BesideFile::~BesideFile() {
  if (!Path.empty()) {
    ::unlink(Path.c_str());
    forgetTemporary(Path);
  }
  if (Fd >= 0)
    ::close(Fd);
}

/// Closes the file; it is complete if that succeeds. The lock is held until the file has its name.
llvm::Error BesideFile::finish() {
  int Copy = ::dup(Fd);
  if (Copy >= 0 && ::close(Copy) == 0)
    return llvm::Error::success();
  return fileError(Target, errno);
}

llvm::Error BesideFile::place() {
  if (llvm::Error Failed = finish())
    return Failed;
  if (::rename(Path.c_str(), Target.c_str()) != 0)
    return fileError(Target, errno);
  forgetTemporary(Path);
  Path.clear();
  return llvm::Error::success();
}

llvm::Expected<bool> BesideFile::placeUnlessThere() {
  if (llvm::Error Failed = finish())
    return Failed;
  // A link, unlike a rename, never replaces a file that another process has written meanwhile.
  if (::link(Path.c_str(), Target.c_str()) == 0)
    return true;
  if (errno == EEXIST)
    return false;
  return fileError(Target, errno);
}

static llvm::Error replaceByRename(llvm::StringRef Target, const NewContent &New) {
  llvm::Expected<BesideFile> Temporary = BesideFile::create(Target);
  if (!Temporary)
    return Temporary.takeError();
  if (New.Mode)
    (void)::fchmod(Temporary->fd(), *New.Mode);
  if (llvm::Error Failed = New.Write(Temporary->fd()))
    return Failed;
  return Temporary->place();
}

/// Returns true if a failed rename means that the file has to be written in place.
static bool refusesRename(std::error_code Code) {
  return Code == std::errc::permission_denied || Code == std::errc::operation_not_permitted ||
         Code == std::errc::device_or_resource_busy || Code == std::errc::filename_too_long ||
         Code == std::errc::cross_device_link;
}

llvm::Error carve::writeInPlace(llvm::StringRef Path, const NewContent &New) {
  UninterruptedWork Writing;
  const std::string Name = Path.str();
  int Fd = ::open(Name.c_str(), O_WRONLY | O_CLOEXEC);
  const bool IsNew = Fd < 0 && errno == ENOENT;
  if (IsNew)
    Fd = ::open(Name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, New.Mode.value_or(0666));
  if (Fd < 0)
    return fileError(Path, errno);
  struct stat There;
  llvm::Error Failed = llvm::Error::success();
  if (::fstat(Fd, &There) == 0 && S_ISREG(There.st_mode)) {
    int Errno = New.Bytes ? ::posix_fallocate(Fd, 0, off_t(New.Bytes)) : 0;
    if (Errno == ENOSPC || Errno == EDQUOT || Errno == EFBIG) {
      (void)!::ftruncate(Fd, There.st_size);
      Failed = fileError(Path, Errno);
    }
  }
  if (!Failed)
    Failed = New.Write(Fd);
  if (!Failed && S_ISREG(There.st_mode) && (New.Mode.value_or(0) & 0111))
    (void)::fchmod(Fd, There.st_mode | (*New.Mode & 0111)); // The linker does the same.
  if (!Failed && S_ISREG(There.st_mode) && ::ftruncate(Fd, off_t(New.Bytes)) != 0)
    Failed = fileError(Path, errno);
  if (::close(Fd) != 0 && !Failed)
    Failed = fileError(Path, errno);
  if (Failed && IsNew)
    ::unlink(Name.c_str());
  return Failed;
}

llvm::Error carve::replaceFile(llvm::StringRef Target, const NewContent &New) {
  llvm::Error Failed = replaceByRename(Target, New);
  bool Refused = false;
  llvm::visitErrors(Failed, [&](const llvm::ErrorInfoBase &Info) {
    Refused = refusesRename(Info.convertToErrorCode());
  });
  if (!Refused || !llvm::sys::fs::exists(Target))
    return Failed;
  llvm::consumeError(std::move(Failed));
  return writeInPlace(Target, New);
}
