#include "Store/DecisionFiles.h"

#include "Store/Profile.h"
#include "Store/ProfileReader.h"
#include "Store/StoreLayout.h"
#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/OwnFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <fcntl.h>
#include <sys/stat.h>

using namespace carve;
namespace fs = llvm::sys::fs;

/// 2001-01-01. This is older than any output, and no build system takes the date for a missing
/// file.
static const llvm::sys::TimePoint<> LongAgo = llvm::sys::toTimePoint(978307200);

static llvm::Error badKey(llvm::StringRef Key) {
  return malformed("bad unit key '" + Key + "', expected a file name");
}

llvm::Expected<std::optional<std::string>> carve::readDecisions(const UnitStore &Store,
                                                                llvm::StringRef Key) {
  if (!isEntryName(Key))
    return badKey(Key);
  return Store.readIfThere(entryPath(Store.root(), EntryKind::Decision, Key));
}

std::string carve::decisionsDigestFile(const UnitStore &Store) {
  return normalisedPath(Store.root() + "/decisions.digest");
}

// Units without a decision do not count, so that the first compile of a new unit leaves the caches
// of the others valid.
static llvm::Error refreshDecisionsDigest(const UnitStore &Store) {
  std::vector<std::string> Fields;
  for (const std::string &Key : entryNames(Store.root(), EntryKind::Decision)) {
    llvm::Expected<std::optional<std::string>> Text = readDecisions(Store, Key);
    llvm::Expected<Profile> P = Text ? parseProfile(Text->value_or(""), Key) : Text.takeError();
    if (!P) {
      llvm::consumeError(P.takeError()); // No compile emits a profile that cannot be read.
      continue;
    }
    if (std::string Choices = choicesOf(*P); !Choices.empty())
      Fields.insert(Fields.end(), {Key, Choices});
  }
  std::vector<llvm::StringRef> Views(Fields.begin(), Fields.end());
  std::string Digest = digestOfFields(Views) + "\n";
  if (llvm::Expected<std::string> Old = Store.readEntry(decisionsDigestFile(Store)); !Old)
    llvm::consumeError(Old.takeError());
  else if (*Old == Digest)
    return llvm::Error::success();
  return Store.write(decisionsDigestFile(Store), Digest);
}

llvm::Error carve::writeDecisions(const UnitStore &Store, llvm::StringRef Key, llvm::StringRef Yaml,
                                  DecisionDate Date) {
  llvm::Expected<std::optional<std::string>> Old = readDecisions(Store, Key);
  if (!Old && !isEntryName(Key))
    return Old.takeError();
  if (!Old)
    llvm::consumeError(Old.takeError()); // The file is unreadable, so it is replaced.
  else if (*Old && **Old == Yaml)
    return llvm::Error::success();
  std::string Path = entryPath(Store.root(), EntryKind::Decision, Key);
  fs::file_status Status;
  bool Keep = Date == DecisionDate::Kept && !fs::status(Path, Status);
  llvm::Error Failed =
      Keep ? writeOwnFile(Path, Yaml, Status.getLastModificationTime()) : Store.write(Path, Yaml);
  return Failed ? std::move(Failed) : refreshDecisionsDigest(Store);
}

llvm::Expected<std::string> carve::decisionFile(const UnitStore &Store, llvm::StringRef Key) {
  if (!isEntryName(Key))
    return badKey(Key);
  std::string Path = normalisedPath(entryPath(Store.root(), EntryKind::Decision, Key));
  llvm::StringRef Folder = llvm::sys::path::parent_path(Path);
  if (!Store.refusal().empty())
    return malformed("the store is not used: " + Store.refusal());
  if (std::error_code Code = createOwnDirectories(Folder))
    return llvm::createFileError(Folder, Code);
  llvm::Expected<bool> Made = createOwnFile(Path, printProfile({}), LongAgo);
  if (!Made)
    return Made.takeError();
  if (!fs::exists(decisionsDigestFile(Store)))
    if (llvm::Error Failed = refreshDecisionsDigest(Store))
      return Failed;
  return Path;
}

llvm::Error carve::antedateDecisions(const UnitStore &Store, llvm::StringRef Key) {
  if (!isEntryName(Key))
    return badKey(Key);
  std::string Path = entryPath(Store.root(), EntryKind::Decision, Key);
  timespec Times[2] = {{0, UTIME_OMIT}, {llvm::sys::toTimeT(LongAgo), 0}};
  if (::utimensat(AT_FDCWD, Path.c_str(), Times, AT_SYMLINK_NOFOLLOW) == 0 || errno == ENOENT)
    return llvm::Error::success();
  return fileError(Path, errno);
}
