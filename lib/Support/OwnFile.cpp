#include "Support/OwnFile.h"

#include "Support/Error.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

using namespace carve;
namespace fs = llvm::sys::fs;

/// \p Bytes in a new file beside \p Path; returns its name.
static llvm::Expected<std::string>
writeOwnTemporary(llvm::StringRef Path, llvm::StringRef Bytes,
                  std::optional<llvm::sys::TimePoint<>> Modified) {
  llvm::SmallString<256> Temporary;
  fs::createUniquePath(Path + ".carve-%%%%%%%%", Temporary, /*MakeAbsolute=*/false);
  std::string Name = Temporary.str().str();
  int Fd = ::open(Name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, OwnFileMode);
  if (Fd < 0)
    return fileError(Path, errno);
  llvm::raw_fd_ostream Out(Fd, /*shouldClose=*/true, /*unbuffered=*/true);
  Out << Bytes;
  std::error_code Failed = Out.error();
  if (!Failed && Modified)
    Failed = fs::setLastAccessAndModificationTime(Fd, *Modified);
  Out.close();
  if (!Failed)
    Failed = Out.error();
  Out.clear_error();
  if (!Failed)
    return Name;
  ::unlink(Name.c_str());
  return llvm::createFileError(Path, Failed);
}

llvm::Error carve::writeOwnFile(llvm::StringRef Path, llvm::StringRef Bytes,
                                std::optional<llvm::sys::TimePoint<>> Modified) {
  llvm::Expected<std::string> Temporary = writeOwnTemporary(Path, Bytes, Modified);
  if (!Temporary)
    return Temporary.takeError();
  if (::rename(Temporary->c_str(), Path.str().c_str()) == 0)
    return llvm::Error::success();
  int Errno = errno;
  ::unlink(Temporary->c_str());
  return fileError(Path, Errno);
}

llvm::Expected<bool> carve::createOwnFile(llvm::StringRef Path, llvm::StringRef Bytes,
                                          llvm::sys::TimePoint<> Modified) {
  struct stat There;
  if (::lstat(Path.str().c_str(), &There) == 0)
    return false;
  llvm::Expected<std::string> Temporary = writeOwnTemporary(Path, Bytes, Modified);
  if (!Temporary)
    return Temporary.takeError();
  // A link, unlike a rename, never takes the place of what another process has written meanwhile.
  int Errno = ::link(Temporary->c_str(), Path.str().c_str()) == 0 ? 0 : errno;
  ::unlink(Temporary->c_str());
  if (Errno == 0 || Errno == EEXIST)
    return Errno == 0;
  return fileError(Path, Errno);
}

std::error_code carve::createOwnDirectories(llvm::StringRef Path) {
  return fs::create_directories(Path, /*IgnoreExisting=*/true, fs::perms(OwnDirectoryMode));
}
