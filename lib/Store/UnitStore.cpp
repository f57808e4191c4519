#include "Store/UnitStore.h"

#include "Store/Blob.h"
#include "Store/FlavourJson.h"
#include "Store/LinkJson.h"
#include "Store/PassthroughLog.h"
#include "Store/RecordBlobs.h"
#include "Store/StoreLayout.h"
#include "Store/StoreLock.h"
#include "Store/UnitJson.h"
#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/Log.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <system_error>
#include <tuple>
#include <unistd.h>

using namespace carve;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

UnitStore UnitStore::siteAt(std::string Root) {
  return UnitStore(StoreFiles(std::move(Root), /*ReadOnly=*/true));
}

UnitStore UnitStore::alone() const {
  UnitStore Own = *this;
  Own.Above.reset();
  return Own;
}

const UnitStore *UnitStore::site() const {
  if (!Above)
    return nullptr;
  // Without execution permission nothing in the folder can be looked up. A folder that does not
  // exist is told, too: the name may be misspelt, or its file system is not mounted here.
  if (::access(Above->root().c_str(), X_OK) != 0)
    Above->warnOnce(std::generic_category().message(errno));
  else if (!Above->refusal().empty())
    Above->warnOnce(Above->refusal());
  else
    return Above.get();
  return nullptr;
}

/// Returns what the site has. What cannot be read there counts as missing, which is logged once.
template <typename T>
std::optional<T> UnitStore::fromSite(llvm::Expected<std::optional<T>> Found) const {
  if (Found)
    return std::move(*Found);
  warnOnce(llvm::toString(Found.takeError()));
  return std::nullopt;
}

static llvm::Error badName(llvm::StringRef What, llvm::StringRef Name) {
  return malformed("bad " + What + " '" + Name + "', expected a file name");
}

llvm::Expected<std::string> UnitStore::putBlob(llvm::StringRef Bytes) {
  std::string Digest = digestOf(Bytes), Path = blobPath(root(), Digest);
  // Unpacking costs a third of packing, so the blob is checked. The next compile then replaces a
  // damaged blob.
  llvm::Expected<std::string> There = alone().blob(Digest);
  if (There && renewTime(Path))
    return Digest;
  if (!There)
    llvm::consumeError(There.takeError());
  if (llvm::Error Failed = write(Path, packBlob(Bytes)))
    return Failed;
  return Digest;
}

llvm::Expected<std::string> UnitStore::blob(llvm::StringRef Digest) const {
  if (!isEntryName(Digest))
    return badName("digest", Digest);
  std::string Path = blobPath(root(), Digest);
  llvm::Expected<std::string> Packed = readEntry(Path, FileLimit::Blob);
  llvm::Expected<std::string> Bytes = Packed ? unpackBlob(*Packed, Digest) : Packed.takeError();
  if (Bytes)
    return Bytes;
  llvm::Error Failed = Bytes.takeError();
  if (const UnitStore *Site = site()) {
    llvm::Expected<std::string> There = Site->blob(Digest);
    if (There) {
      llvm::consumeError(std::move(Failed));
      return There;
    }
    llvm::Error Missed = There.takeError();
    if (isMissing(Missed))
      llvm::consumeError(std::move(Missed));
    else
      Site->warnOnce(llvm::toString(std::move(Missed)));
  }
  if (Packed)
    return malformed(Path + ": " + llvm::toString(std::move(Failed)));
  return Failed;
}

// The check for the blobs in putRecord() comes after this, under the lock.
llvm::Error UnitStore::copyFromSite(llvm::ArrayRef<std::string> Digests) {
  const UnitStore *Site = site();
  for (llvm::StringRef Digest : Digests) {
    if (!Site || Digest.empty() || !isEntryName(Digest) || fs::exists(blobPath(root(), Digest)))
      continue;
    llvm::Expected<std::string> Bytes = Site->blob(Digest);
    llvm::Expected<std::string> Copied = Bytes ? putBlob(*Bytes) : Bytes.takeError();
    if (!Copied)
      return Copied.takeError();
  }
  return llvm::Error::success();
}

llvm::Error UnitStore::linkContainer(llvm::StringRef Digest, llvm::StringRef Key) const {
  if (!isEntryName(Digest))
    return badName("container digest", Digest);
  llvm::SmallString<256> Path(containerFolder(root(), Digest));
  path::append(Path, Key);
  if (fs::exists(Path)) {
    renewAge(Path.str().str());
    return llvm::Error::success();
  }
  return write(Path, "");
}

namespace {

/// Describes how the store keeps one kind of record to which containers lead.
template <typename T> struct Kept;
template <> struct Kept<Unit> {
  static constexpr EntryKind Kind = EntryKind::Unit;
  static constexpr llvm::StringLiteral Name = "unit";
  static std::string print(const Unit &U) { return printUnit(U); }
  static auto parse(llvm::StringRef Json, llvm::StringRef Path) { return parseUnit(Json, Path); }
};
template <> struct Kept<DeviceLink> {
  static constexpr EntryKind Kind = EntryKind::Link;
  static constexpr llvm::StringLiteral Name = "link";
  static std::string print(const DeviceLink &L) { return printLink(L); }
  static auto parse(llvm::StringRef Json, llvm::StringRef Path) { return parseLink(Json, Path); }
};

template <typename T>
llvm::Expected<std::optional<T>> readRecord(const UnitStore &Store, llvm::StringRef Key) {
  if (!isEntryName(Key))
    return badName((Kept<T>::Name + " key").str(), Key);
  std::string Path = entryPath(Store.root(), Kept<T>::Kind, Key);
  llvm::Expected<std::optional<std::string>> Json = Store.readIfThere(Path);
  if (!Json)
    return Json.takeError();
  if (!*Json)
    return std::nullopt;
  llvm::Expected<T> Record = Kept<T>::parse(**Json, Path);
  if (!Record)
    return Record.takeError();
  if (Record->Key != Key)
    return malformed(Path + ": " + Kept<T>::Name + " record of key '" + Record->Key +
                     "', expected '" + Key + "'");
  return std::optional(std::move(*Record));
}

/// Returns the records that load the container \p Digest, the last written one first.
template <typename T>
std::vector<T> recordsOfContainer(const UnitStore &Store, llvm::StringRef Digest) {
  std::vector<std::pair<llvm::sys::TimePoint<>, T>> Found;
  if (!isEntryName(Digest))
    return {};
  std::error_code Failed;
  for (fs::directory_iterator It(containerFolder(Store.root(), Digest), Failed), End;
       !Failed && It != End; It.increment(Failed)) {
    llvm::Expected<std::optional<T>> Record = readRecord<T>(Store, path::filename(It->path()));
    if (!Record) {
      logLine(llvm::toString(Record.takeError()));
      continue;
    }
    fs::file_status Status;
    if (*Record && llvm::is_contained((*Record)->Containers, Digest) &&
        !fs::status(It->path(), Status))
      Found.emplace_back(Status.getLastModificationTime(), std::move(**Record));
  }
  llvm::sort(Found, [](const auto &A, const auto &B) {
    return std::tie(B.first, A.second.Key) < std::tie(A.first, B.second.Key);
  });
  std::vector<T> Records;
  Records.reserve(Found.size());
  for (auto &[Time, Record] : Found)
    Records.push_back(std::move(Record));
  return Records;
}

template <typename T> std::vector<T> allRecords(const UnitStore &Store) {
  std::vector<T> Records;
  for (const std::string &Key : entryNames(Store.root(), Kept<T>::Kind)) {
    llvm::Expected<std::optional<T>> Record = readRecord<T>(Store, Key);
    if (!Record)
      logLine(llvm::toString(Record.takeError()));
    else if (*Record)
      Records.push_back(std::move(**Record));
  }
  return Records;
}

} // namespace

// The record is written before the entries that lead to it, and after those that lead to the old
// one are removed. So an entry without a record is always stale, and never one whose record is
// about to be written, and a writer that is killed leaves no entry that leads to something else.
template <typename T> llvm::Error UnitStore::putRecord(const T &New) {
  if (!isEntryName(New.Key))
    return badName((Kept<T>::Name + " key").str(), New.Key);
  // Two compiles of one output may run at once, and the containers must be those of the record that
  // stays. A record whose blobs were evicted before it was written would never be found by
  // pruneStore().
  (void)writable();
  if (!refusal().empty())
    return notUsed(); // The lock is not waited for either.
  if (llvm::Error Failed = copyFromSite(blobsOf(New)))
    return Failed;
  StoreLock Alone(root());
  if (llvm::Error Evicted = checkBlobs(root(), blobsOf(New)))
    return Evicted;
  std::vector<std::string> Stale;
  llvm::Expected<std::optional<T>> Before = readRecord<T>(*this, New.Key);
  if (!Before)
    // The old record is damaged or newer, so it is replaced.
    llvm::consumeError(Before.takeError());
  else if (*Before)
    Stale = std::move((*Before)->Containers);
  std::string Path = entryPath(root(), Kept<T>::Kind, New.Key), Json = Kept<T>::print(New);
  // A record that no reader accepts is not written, e.g. one with a name or an option that must not
  // be passed on.
  if (auto Readable = Kept<T>::parse(Json, Path); !Readable)
    return Readable.takeError();
  for (const std::string &Digest : Stale)
    if (isEntryName(Digest) && !llvm::is_contained(New.Containers, Digest))
      unlinkContainer(root(), Digest, New.Key);
  if (llvm::Error Failed = write(Path, Json))
    return Failed;
  for (const std::string &Digest : New.Containers)
    if (llvm::Error Failed = linkContainer(Digest, New.Key))
      return Failed;
  return llvm::Error::success();
}

llvm::Error UnitStore::putUnit(const Unit &U) { return putRecord(U); }

llvm::Expected<std::optional<Unit>> UnitStore::unit(llvm::StringRef Key) const {
  auto Own = readRecord<Unit>(*this, Key);
  const UnitStore *Site = !Own || *Own ? nullptr : site();
  return Site ? Site->fromSite(readRecord<Unit>(*Site, Key)) : std::move(Own);
}

std::vector<Unit> UnitStore::unitsOfContainer(llvm::StringRef Digest) const {
  std::vector<Unit> Own = recordsOfContainer<Unit>(*this, Digest);
  const UnitStore *Site = Own.empty() ? site() : nullptr;
  return Site ? recordsOfContainer<Unit>(*Site, Digest) : Own;
}

std::vector<Unit> UnitStore::units() const { return allRecords<Unit>(*this); }

llvm::Error UnitStore::putLink(const DeviceLink &L) { return putRecord(L); }

llvm::Expected<std::optional<DeviceLink>> UnitStore::link(llvm::StringRef Key) const {
  auto Own = readRecord<DeviceLink>(*this, Key);
  const UnitStore *Site = !Own || *Own ? nullptr : site();
  return Site ? Site->fromSite(readRecord<DeviceLink>(*Site, Key)) : std::move(Own);
}

std::vector<DeviceLink> UnitStore::linksOfContainer(llvm::StringRef Digest) const {
  std::vector<DeviceLink> Own = recordsOfContainer<DeviceLink>(*this, Digest);
  const UnitStore *Site = Own.empty() ? site() : nullptr;
  return Site ? recordsOfContainer<DeviceLink>(*Site, Digest) : Own;
}

std::vector<DeviceLink> UnitStore::links() const { return allRecords<DeviceLink>(*this); }

llvm::Expected<std::optional<Unit>> UnitStore::unitOfContainer(llvm::StringRef Digest) const {
  std::vector<Unit> Units = unitsOfContainer(Digest);
  if (Units.empty())
    return std::nullopt;
  return std::optional(std::move(Units.front()));
}

llvm::Expected<std::optional<std::string>> UnitStore::flavour(llvm::StringRef Key) const {
  if (!isEntryName(Key))
    return badName("flavour key", Key);
  std::string Path = entryPath(root(), EntryKind::Flavour, Key);
  llvm::Expected<std::optional<std::string>> Json = readIfThere(Path);
  if (!Json)
    return Json.takeError();
  if (!*Json) {
    const UnitStore *Site = site();
    return Site ? Site->fromSite(Site->flavour(Key)) : std::nullopt;
  }
  llvm::Expected<std::string> Digest = parseFlavour(**Json, Path);
  if (!Digest)
    return Digest.takeError();
  llvm::Expected<std::optional<std::string>> Ptx = ifThere(blob(*Digest));
  if (Ptx && *Ptx) {
    renewAge(Path);
    renewAge(blobPath(root(), *Digest));
  }
  return Ptx;
}

llvm::Error UnitStore::putFlavour(llvm::StringRef Key, llvm::StringRef Ptx) {
  if (!isEntryName(Key))
    return badName("flavour key", Key);
  llvm::Expected<std::string> Digest = putBlob(Ptx);
  if (!Digest)
    return Digest.takeError();
  StoreLock Alone(root());
  if (llvm::Error Evicted = checkBlobs(root(), {*Digest}))
    return Evicted;
  return write(entryPath(root(), EntryKind::Flavour, Key), printFlavour(*Digest));
}

llvm::Expected<std::optional<std::string>> UnitStore::attempt(llvm::StringRef Key) const {
  if (!isEntryName(Key))
    return badName("unit key", Key);
  return readIfThere(entryPath(root(), EntryKind::Attempt, Key));
}

llvm::Error UnitStore::putAttempt(llvm::StringRef Key, llvm::StringRef Json) {
  if (!isEntryName(Key))
    return badName("unit key", Key);
  return write(entryPath(root(), EntryKind::Attempt, Key), Json);
}

llvm::Error UnitStore::putReport(llvm::StringRef Name, llvm::StringRef Json) {
  if (!isEntryName(Name))
    return badName("report name", Name);
  return write(entryPath(root(), EntryKind::Report, Name), Json);
}

llvm::Expected<std::optional<std::string>> UnitStore::search(llvm::StringRef Key) const {
  if (!isEntryName(Key))
    return badName("search key", Key);
  return readIfThere(entryPath(root(), EntryKind::Search, Key));
}

llvm::Error UnitStore::putSearch(llvm::StringRef Key, llvm::StringRef Json) {
  if (!isEntryName(Key))
    return badName("search key", Key);
  return write(entryPath(root(), EntryKind::Search, Key), Json);
}

llvm::Expected<std::optional<std::string>> UnitStore::workload(llvm::StringRef Key) const {
  if (!isEntryName(Key))
    return badName("workload key", Key);
  return readIfThere(entryPath(root(), EntryKind::Workload, Key));
}

llvm::Error UnitStore::putWorkload(llvm::StringRef Key, llvm::StringRef Json) {
  if (!isEntryName(Key))
    return badName("workload key", Key);
  return write(entryPath(root(), EntryKind::Workload, Key), Json);
}

llvm::Expected<std::optional<std::string>> UnitStore::lastReport() const {
  std::vector<std::string> Names = entryNames(root(), EntryKind::Report);
  if (Names.empty())
    return std::nullopt;
  return readIfThere(entryPath(root(), EntryKind::Report, Names.back()));
}

void UnitStore::countPassthrough(llvm::StringRef Reason) const {
  if (!root().empty() && refusal().empty())
    llvm::consumeError(appendPassthrough(root(), Reason));
}
