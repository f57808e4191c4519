#include "Store/StoreFiles.h"

#include "Store/StoreLayout.h"
#include "Support/Error.h"
#include "Support/Log.h"
#include "Support/OwnFile.h"
#include "Support/RemoveTree.h"

#include "llvm/Support/Path.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

using namespace carve;
namespace path = llvm::sys::path;

void StoreFiles::warnOnce(llvm::StringRef Why) const {
  std::call_once(Trust->Warned, [&] {
    logLine("warning: " + Root + ": the site's store is not used for this: " + Why.str());
  });
}

bool StoreFiles::writable() const {
  return !ReadOnly && !createOwnDirectories(Root) && refusal().empty() &&
         ::access(Root.c_str(), W_OK | X_OK) == 0;
}

const std::string &StoreFiles::refusal() const {
  std::call_once(Trust->Looked, [&] {
    struct stat Status;
    if (ReadOnly && ::stat(Root.c_str(), &Status) == 0)
      Trust->Owner = Status.st_uid;
    Trust->Refusal = whyStoreRefused(Root, Trust->Owner);
  });
  return Trust->Refusal;
}

llvm::Error StoreFiles::notUsed() const { return malformed("the store is not used: " + refusal()); }

static std::error_code codeOf(const llvm::Error &Failed) {
  std::error_code Code;
  llvm::visitErrors(Failed,
                    [&](const llvm::ErrorInfoBase &Info) { Code = Info.convertToErrorCode(); });
  return Code;
}

/// Returns true if the error means that a file, or a directory above it, does not exist.
static bool isMissingCode(std::error_code Code) {
  return Code == std::errc::no_such_file_or_directory || Code == std::errc::not_a_directory;
}

bool StoreFiles::isMissing(const llvm::Error &Failed) { return isMissingCode(codeOf(Failed)); }

/// Returns true if the file that was open or looked up is gone, because another machine has
/// replaced it on a network file system. Its name leads to the new one.
static bool isStaleHandle(const llvm::Error &Failed) {
  const std::error_condition Stale(ESTALE, std::generic_category());
  return codeOf(Failed) == Stale;
}

/// How often a file is opened anew after a stale handle.
static constexpr int StaleAttempts = 10;

/// Returns what \p Try returns, an Expected. If that is the error of a stale handle, it is tried
/// again.
template <class Function> static auto untilNotStale(Function Try) -> decltype(Try()) {
  for (int Attempt = 0;; ++Attempt) {
    auto Result = Try();
    if (Result)
      return Result;
    llvm::Error Failed = Result.takeError();
    if (Attempt == StaleAttempts || !isStaleHandle(Failed))
      return Failed;
    llvm::consumeError(std::move(Failed));
  }
}

llvm::Expected<RegularFile> StoreFiles::open(llvm::StringRef Path, uint64_t MostBytes) const {
  if (!refusal().empty())
    return notUsed();
  return untilNotStale(
      [&] { return RegularFile::open(Path, MostBytes, FileTrust::Ours, Trust->Owner); });
}

llvm::Expected<std::string> StoreFiles::readEntry(llvm::StringRef Path, uint64_t MostBytes) const {
  return untilNotStale([&] {
    llvm::Expected<RegularFile> File = open(Path, MostBytes);
    return File ? File->read() : File.takeError();
  });
}

llvm::Expected<std::optional<std::string>> StoreFiles::ifThere(llvm::Expected<std::string> Text) {
  if (Text)
    return std::optional(std::move(*Text));
  llvm::Error Failed = Text.takeError();
  if (!isMissing(Failed))
    return Failed;
  llvm::consumeError(std::move(Failed));
  return std::nullopt;
}

llvm::Expected<std::optional<std::string>> StoreFiles::readIfThere(llvm::StringRef Path) const {
  return ifThere(readEntry(Path));
}

bool StoreFiles::renewTime(const std::string &Path) {
  return ::utimensat(AT_FDCWD, Path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

void StoreFiles::renewAge(const std::string &Path) const {
  if (!ReadOnly)
    (void)renewTime(Path);
}

// A directory is created only after it was found missing. It nearly always exists, and another
// process could remove it between a check and the write anyway. A directory in place of a file is
// damage.
llvm::Error StoreFiles::write(llvm::StringRef Path, llvm::StringRef Bytes) const {
  if (Root.empty())
    return malformed("no directory for the store");
  if (!refusal().empty())
    return notUsed();
  if (ReadOnly)
    return malformed("the store " + Root + " is the site's and only read");
  for (int Attempt = 0;; ++Attempt) {
    llvm::Error Failed = writeOwnFile(Path, Bytes);
    bool IsDirectory = codeOf(Failed) == std::errc::is_a_directory;
    if (!Failed || Attempt == StaleAttempts ||
        (!IsDirectory && !isMissing(Failed) && !isStaleHandle(Failed)))
      return Failed;
    llvm::consumeError(std::move(Failed));
    if (IsDirectory)
      removeTree(Path.str().c_str());
    llvm::StringRef Folder = path::parent_path(Path);
    if (std::error_code Code = createOwnDirectories(Folder); Code && !isMissingCode(Code))
      return llvm::createFileError(Folder, Code);
  }
}
