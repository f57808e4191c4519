#include "Store/StoreLock.h"

#include "Store/StoreLayout.h"
#include "Support/Log.h"
#include "Support/OwnFile.h"

#include "llvm/ADT/STLExtras.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

using namespace carve;

/// The types of file systems that several machines share, as statfs(2) and <linux/magic.h> number
/// them.
static constexpr uint32_t SharedFileSystems[] = {
    0x6969,     // NFS
    0x0BD00BD0, // Lustre
    0x47504653, // GPFS, which is Spectrum Scale
    0x19830326, // BeeGFS
    0x00C36400, // Ceph
    0xAAD7AAEA, // PanFS
    0x5346414F, // AFS
    0xFF534D42, // CIFS
    0xFE534D42, // SMB 2
    0x01021997, // 9P, which virtual machines use
    0x65735546, // FUSE, which may be anything
};

/// Returns true if other machines may have mounted the file system of \p Root.
static bool isShared(const std::string &Root) {
  struct statfs Status;
  return ::statfs(Root.c_str(), &Status) == 0 &&
         llvm::is_contained(SharedFileSystems, uint32_t(Status.f_type));
}

/// Returns true if \p Path still names the file \p Fd. `carve store clear` removes that file.
static bool isNamed(int Fd, const std::string &Path) {
  struct stat Opened, Named;
  return ::fstat(Fd, &Opened) == 0 && ::stat(Path.c_str(), &Named) == 0 &&
         Opened.st_ino == Named.st_ino && Opened.st_dev == Named.st_dev;
}

namespace {

/// The result of lock(): a locked descriptor or -1, and whether the file system has no locks.
struct FileLock {
  int Fd = -1;
  bool Unsupported = false;
};

} // namespace

static FileLock lock(const std::string &Path) {
  constexpr int PauseUs = 1000, Attempts = 20000;
  for (int Attempt = 0; Attempt < Attempts; ++Attempt) {
    // Reading permission suffices: in a store of several users the file may belong to another user.
    int Fd =
        ::open(Path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, OwnFileMode);
    if (Fd < 0)
      return {};
    int Errno = ::flock(Fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    if (Errno == 0 && isNamed(Fd, Path))
      return {Fd};
    ::close(Fd);
    if (Errno != 0 && Errno != EWOULDBLOCK && Errno != EINTR)
      return {-1, true};
    ::usleep(PauseUs);
  }
  return {};
}

StoreLock::StoreLock(llvm::StringRef Root) {
  constexpr std::chrono::seconds Patience(20);
  // Without a folder there is no store to lock. The file would lie in the working directory.
  if (Root.empty())
    return;
  bool Link = isShared(Root.str());
  if (!Link) {
    FileLock Own = lock(lockPath(Root));
    Fd = Own.Fd;
    Link = Own.Unsupported;
  }
  if (!Link)
    return;
  llvm::Expected<LinkLock> Taken = LinkLock::take(linkLockPath(Root), Patience);
  if (Taken)
    Linked.emplace(std::move(*Taken));
  else
    logLine("the store is not locked: " + llvm::toString(Taken.takeError()));
}

StoreLock::~StoreLock() {
  if (Fd >= 0)
    ::close(Fd);
}

void StoreLock::renew() {
  if (Linked)
    Linked->renew();
}
