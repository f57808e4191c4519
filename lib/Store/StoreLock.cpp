#include "Store/StoreLock.h"

#include "Store/StoreLayout.h"
#include "Support/OwnFile.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace carve;

/// Returns true if \p Path still names the file \p Fd. `carve store clear` removes that file.
static bool isNamed(int Fd, const std::string &Path) {
  struct stat Opened, Named;
  return ::fstat(Fd, &Opened) == 0 && ::stat(Path.c_str(), &Named) == 0 &&
         Opened.st_ino == Named.st_ino && Opened.st_dev == Named.st_dev;
}

/// Returns a locked descriptor, or -1 if the file cannot be opened or locked.
static int lock(const std::string &Path) {
  constexpr int PauseUs = 1000, Attempts = 20000;
  for (int Attempt = 0; Attempt < Attempts; ++Attempt) {
    // Reading permission suffices: in a store of several users the file may belong to another user.
    int Fd =
        ::open(Path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, OwnFileMode);
    if (Fd < 0)
      return -1;
    int Errno = ::flock(Fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    if (Errno == 0 && isNamed(Fd, Path))
      return Fd;
    ::close(Fd);
    if (Errno != 0 && Errno != EWOULDBLOCK && Errno != EINTR)
      return -1;
    ::usleep(PauseUs);
  }
  return -1;
}

StoreLock::StoreLock(llvm::StringRef Root) : Fd(lock(lockPath(Root))) {}

StoreLock::~StoreLock() {
  if (Fd >= 0)
    ::close(Fd);
}
