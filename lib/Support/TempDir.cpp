#include "Support/TempDir.h"

#include "Support/Error.h"
#include "Support/Log.h"
#include "Support/RawDirectory.h"
#include "Support/RemoveTree.h"
#include "Support/SignalCleanup.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"

#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <mutex>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace carve;

/// Returns an absolute path, because the paths below it are given to programs that run in other
/// directories.
static std::string temporaryRoot() {
  // nvcc only looks at TMPDIR, so we do the same.
  llvm::SmallString<256> Root("/tmp");
  if (auto Dir = llvm::sys::Process::GetEnv("TMPDIR"); Dir && !Dir->empty())
    Root = *Dir;
  (void)llvm::sys::fs::make_absolute(Root);
  return Root.str().str();
}

static std::string ownFolder() {
  return temporaryRoot() + "/carve-nvcc-" + std::to_string(::geteuid());
}

static std::string octal(unsigned Number) {
  char Text[16];
  (void)std::snprintf(Text, sizeof(Text), "%o", Number);
  return Text;
}

/// Returns why \p Path is not a directory that only we can write to; empty if it is one. \p Missing
/// is set if nothing exists under that name.
static std::string whyNotPrivate(const std::string &Path, bool &Missing) {
  struct stat There;
  const int Errno = ::lstat(Path.c_str(), &There) == 0 ? 0 : errno;
  Missing = Errno == ENOENT;
  if (Errno != 0)
    return std::generic_category().message(Errno);
  if (!S_ISDIR(There.st_mode))
    return S_ISLNK(There.st_mode) ? "a symbolic link, expected a directory" : "no directory";
  if (There.st_uid != ::geteuid())
    return "owned by user " + std::to_string(There.st_uid) + ", expected " +
           std::to_string(::geteuid());
  if (There.st_mode & 022)
    return "mode " + octal(There.st_mode & 07777) +
           ", expected one that only its owner can write to";
  return "";
}

/// Returns the folder of our temporaries, and creates it if it is missing; empty if it cannot be
/// trusted.
static std::string openFolder() {
  std::string Folder = ownFolder(), Why;
  // Another process may remove it together with its last temporary.
  for (int Attempt = 0; Attempt < 100; ++Attempt) {
    (void)::mkdir(Folder.c_str(), 0700);
    bool Missing;
    Why = whyNotPrivate(Folder, Missing);
    if (Why.empty())
      return Folder;
    if (!Missing)
      break;
  }
  logLine(Folder + ": " + Why + "; temporaries are made elsewhere");
  return "";
}

/// Opens and locks the directory \p Path. Returns -1 on failure, with errno EWOULDBLOCK if another
/// process holds it or has just removed it.
static int lockDirectory(const std::string &Path) {
  int Fd = ::open(Path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (Fd < 0)
    return -1;
  struct stat Opened, Named;
  int Errno = ::flock(Fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
  // The holder removes the directory before it releases the lock. A lock on a removed directory
  // protects nothing.
  if (Errno == 0 && (::fstat(Fd, &Opened) != 0 || ::lstat(Path.c_str(), &Named) != 0 ||
                     Opened.st_ino != Named.st_ino || Opened.st_dev != Named.st_dev))
    Errno = EWOULDBLOCK;
  if (Errno == 0 && Opened.st_uid != ::geteuid())
    Errno = EPERM;
  if (Errno == 0)
    return Fd;
  ::close(Fd);
  errno = Errno;
  return -1;
}

void carve::sweepTempDirs() {
  std::string Folder = ownFolder();
  if (bool Missing; !whyNotPrivate(Folder, Missing).empty())
    return;
  UninterruptedWork Removing;
  int Fd = ::open(Folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (Fd < 0)
    return;
  forEachEntry(Fd, [&](const char *Name) {
    std::string Path = Folder + "/" + Name;
    int Lock = lockDirectory(Path);
    if (Lock < 0)
      return;
    emptyDirectory(Lock);
    ::rmdir(Path.c_str());
    ::close(Lock);
  });
  ::close(Fd);
  ::rmdir(Folder.c_str()); // This succeeds only if the folder is empty.
}

TempDir::TempDir(std::string Path, int LockFd) : Path(std::move(Path)), LockFd(LockFd) {
  registerTemporary(this->Path);
}

TempDir::TempDir(TempDir &&Other) noexcept
    : Path(std::move(Other.Path)), LockFd(std::exchange(Other.LockFd, -1)),
      Named(std::exchange(Other.Named, false)) {
  Other.Path.clear();
}

TempDir &TempDir::operator=(TempDir &&Other) noexcept {
  if (this != &Other) {
    remove();
    Path = std::move(Other.Path);
    Other.Path.clear();
    LockFd = std::exchange(Other.LockFd, -1);
    Named = std::exchange(Other.Named, false);
  }
  return *this;
}

TempDir::~TempDir() { remove(); }

void TempDir::remove() {
  if (!Path.empty()) {
    removeTree(Path.c_str());
    forgetTemporary(Path);
    std::string Folder = ownFolder();
    if (llvm::StringRef(Path).starts_with(Folder + "/"))
      ::rmdir(Folder.c_str()); // The last directory removes the folder, too.
  }
  // The lock is released last, so a process that waits for the name finds the directory gone.
  if (LockFd >= 0)
    ::close(LockFd);
  LockFd = -1;
  Path.clear();
  if (std::exchange(Named, false))
    sweepTempDirs(); // Orphans of a killed process may have ended meanwhile.
}

llvm::Expected<TempDir> TempDir::create(llvm::StringRef Prefix) {
  static std::once_flag Swept;
  std::call_once(Swept, sweepTempDirs);
  UninterruptedWork Making;
  for (int Attempt = 0;; ++Attempt) {
    std::string Folder = openFolder();
    std::string Model =
        (Folder.empty() ? temporaryRoot() : Folder) + "/" + Prefix.str() + "-XXXXXX";
    if (!::mkdtemp(Model.data())) {
      // Another process may have removed the empty folder.
      if (errno == ENOENT && Attempt < 100)
        continue;
      return fileError(Model, errno);
    }
    int Fd = lockDirectory(Model);
    if (Fd < 0 && (errno == EWOULDBLOCK || errno == ENOENT) && Attempt < 100)
      continue;                // It was swept before it was locked.
    return TempDir(Model, Fd); // It has no lock if the file system has none.
  }
}

void TempDir::passLockOn(bool ToChildren) {
  if (LockFd >= 0)
    ::fcntl(LockFd, F_SETFD, ToChildren ? 0 : FD_CLOEXEC);
}

/// Locks and empties the directory \p Path. Creates it, or takes what a killed process left there.
/// Returns -1 on failure, with errno as lockDirectory() sets it.
static int takeDirectory(const std::string &Path) {
  if (::mkdir(Path.c_str(), 0700) != 0 && errno != EEXIST)
    return -1;
  int Fd = lockDirectory(Path);
  if (Fd < 0) {
    if (errno == ENOENT)
      errno = EWOULDBLOCK;
    return -1;
  }
  emptyDirectory(Fd);
  (void)::fcntl(Fd, F_SETFD, 0);
  return Fd;
}

static bool isBusy(int Errno) { return Errno == EWOULDBLOCK || Errno == ENOENT; }

/// Takes the directory \p Path when no other process holds it. Fails with Unsupported
/// `keep-dir-busy` if one still does after \p PatienceS seconds. \p InFolder says that it is in our
/// folder, which another process may remove meanwhile.
llvm::Expected<TempDir> TempDir::await(const std::string &Path, double PatienceS, bool InFolder) {
  using Clock = std::chrono::steady_clock;
  constexpr int PauseUs = 20000;
  const Clock::time_point Start = Clock::now();
  for (;; ::usleep(PauseUs)) {
    UninterruptedWork Making;
    if (InFolder)
      (void)::mkdir(ownFolder().c_str(), 0700);
    int Fd = takeDirectory(Path), Errno = errno;
    if (Fd >= 0)
      return TempDir(Path, Fd);
    if (!isBusy(Errno) || (Errno == ENOENT && !InFolder))
      return fileError(Path, Errno);
    if (std::chrono::duration<double>(Clock::now() - Start).count() >= PatienceS)
      return unsupported("keep-dir-busy", Path);
  }
}

llvm::Expected<TempDir> TempDir::createLocked(llvm::StringRef Path) {
  // Processes that were just killed hold it until they are gone.
  return await(Path.str(), /*PatienceS=*/1, /*InFolder=*/false);
}

llvm::Expected<TempDir> TempDir::createNamed(llvm::StringRef Name, double PatienceS) {
  sweepTempDirs();
  constexpr int MostAtOnce = 8;
  for (int I = 0; I < MostAtOnce && !openFolder().empty(); ++I) {
    std::string Path = ownFolder() + "/" + Name.str() + (I ? "-" + std::to_string(I) : "");
    llvm::Expected<TempDir> Made = await(Path, I ? 0 : PatienceS, /*InFolder=*/true);
    if (Made) {
      Made->Named = true;
      return Made;
    }
    logLine("not used: " + llvm::toString(Made.takeError()));
  }
  llvm::Expected<TempDir> Made = create(Name);
  if (Made)
    Made->passLockOn(true);
  return Made;
}
