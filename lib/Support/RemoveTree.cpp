#include "Support/RemoveTree.h"

#include "Support/RawDirectory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace carve;

/// We create nothing deeper, and a handler's stack is small.
static constexpr int MostLevels = 32;

static void emptyLevel(int Directory, dev_t Device, int Level);

/// Removes one entry. Returns true if it has gone.
static bool removeOne(int Directory, const char *Name, dev_t Device, int Level) {
  if (::unlinkat(Directory, Name, 0) == 0)
    return true;
  int Below = ::openat(Directory, Name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (Below < 0)
    return false;
  emptyLevel(Below, Device, Level + 1);
  ::close(Below);
  return ::unlinkat(Directory, Name, AT_REMOVEDIR) == 0;
}

static void emptyLevel(int Directory, dev_t Device, int Level) {
  struct stat Here;
  if (Level >= MostLevels || ::fstat(Directory, &Here) != 0 || Here.st_dev != Device)
    return;
  // Some file systems skip entries if others are removed meanwhile, so the pass is repeated.
  for (bool Removed = true; Removed;) {
    Removed = false;
    ::lseek(Directory, 0, SEEK_SET);
    forEachEntry(Directory,
                 [&](const char *Name) { Removed |= removeOne(Directory, Name, Device, Level); });
  }
}

void carve::emptyDirectory(int Directory) {
  struct stat Here;
  if (::fstat(Directory, &Here) == 0)
    emptyLevel(Directory, Here.st_dev, 0);
}

void carve::removeTree(const char *Path) {
  int Directory = ::open(Path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (Directory < 0) {
    ::unlink(Path);
    return;
  }
  emptyDirectory(Directory);
  ::close(Directory);
  ::rmdir(Path);
}
