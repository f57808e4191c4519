#include "Support/OwnFile.h"

#include "Support/ReplacedFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <sys/stat.h>

using namespace carve;
namespace fs = llvm::sys::fs;

/// Writes \p Bytes to a temporary beside \p Path.
static llvm::Expected<BesideFile>
writeOwnTemporary(llvm::StringRef Path, llvm::StringRef Bytes,
                  std::optional<llvm::sys::TimePoint<>> Modified) {
  llvm::Expected<BesideFile> New = BesideFile::create(Path, OwnFileMode);
  if (!New)
    return New.takeError();
  llvm::raw_fd_ostream Out(New->fd(), /*shouldClose=*/false, /*unbuffered=*/true);
  Out << Bytes;
  std::error_code Failed = Out.error();
  Out.clear_error();
  if (!Failed && Modified)
    Failed = fs::setLastAccessAndModificationTime(New->fd(), *Modified);
  if (Failed)
    return llvm::createFileError(Path, Failed);
  return New;
}

llvm::Error carve::writeOwnFile(llvm::StringRef Path, llvm::StringRef Bytes,
                                std::optional<llvm::sys::TimePoint<>> Modified) {
  llvm::Expected<BesideFile> New = writeOwnTemporary(Path, Bytes, Modified);
  return New ? New->place() : New.takeError();
}

llvm::Expected<bool> carve::createOwnFile(llvm::StringRef Path, llvm::StringRef Bytes,
                                          llvm::sys::TimePoint<> Modified) {
  struct stat There;
  if (::lstat(Path.str().c_str(), &There) == 0)
    return false;
  llvm::Expected<BesideFile> New = writeOwnTemporary(Path, Bytes, Modified);
  if (!New)
    return New.takeError();
  return New->placeUnlessThere();
}

std::error_code carve::createOwnDirectories(llvm::StringRef Path) {
  return fs::create_directories(Path, /*IgnoreExisting=*/true, fs::perms(OwnDirectoryMode));
}
