/// \file
/// What looks at the whole store: counting, checking, evicting, clearing. Other processes write
/// and remove meanwhile, so an entry that is suddenly gone is never a failure.
#include "Store/Blob.h"
#include "Store/FlavourJson.h"
#include "Store/NewerFormat.h"
#include "Store/PassthroughLog.h"
#include "Store/Profile.h"
#include "Store/StoreLayout.h"
#include "Store/UnitStore.h"
#include "Support/Error.h"
#include "Support/JsonText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <chrono>
#include <unistd.h>

using namespace carve;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// A writer that has not renamed its temporary after this long has been killed.
static constexpr std::chrono::hours TemporaryAge(1);
static constexpr std::chrono::hours PruneEvery(1);

static llvm::Error removeFile(const std::string &Path) {
  // Whatever stands there; the library's own function leaves pipes and devices alone.
  if (::unlink(Path.c_str()) == 0 || errno == ENOENT || ::rmdir(Path.c_str()) == 0)
    return llvm::Error::success();
  return fileError(Path, errno);
}

/// Removes an entry, and the directory that held only it.
static llvm::Error removeEntry(const StoreEntry &Entry) {
  if (llvm::Error Failed = removeFile(Entry.Path))
    return Failed;
  if (Entry.Kind == EntryKind::Container || Entry.Kind == EntryKind::Blob)
    removeIfEmpty(path::parent_path(Entry.Path));
  return llvm::Error::success();
}

/// Whether \p Entry is a decision file as a compile makes it, for the depfile alone.
static bool isEmptyProfile(const StoreEntry &Entry) {
  return Entry.Bytes == printProfile({}).size();
}

/// Files of the store that are no entries, where they are there.
static std::vector<StoreEntry> otherFiles(const UnitStore &Store) {
  std::vector<std::string> Paths = passthroughFiles(Store.root());
  Paths.insert(Paths.end(), {Store.root() + "/decisions.digest", Store.root() + "/pruned"});
  std::vector<StoreEntry> Files;
  for (std::string &Path : Paths) {
    fs::file_status There;
    if (!fs::status(Path, There, /*follow=*/false))
      Files.push_back({EntryKind::Report, std::move(Path), "", There.getSize(), {}, true});
  }
  return Files;
}

/// Bytes of the files that are no entries.
static uint64_t otherBytes(const UnitStore &Store) {
  uint64_t Total = 0;
  for (const StoreEntry &File : otherFiles(Store))
    Total += File.Bytes;
  return Total;
}

StoreStats UnitStore::stats() const {
  StoreStats Stats;
  for (const StoreEntry &Entry : storeEntries(Root)) {
    if (!Entry.Regular)
      continue;
    Stats.Units += Entry.Kind == EntryKind::Unit;
    Stats.Links += Entry.Kind == EntryKind::Link;
    Stats.Blobs += Entry.Kind == EntryKind::Blob;
    Stats.Decisions += Entry.Kind == EntryKind::Decision && !isEmptyProfile(Entry);
    Stats.Reports += Entry.Kind == EntryKind::Report;
    Stats.Bytes += Entry.Bytes;
  }
  Stats.Bytes += otherBytes(*this);
  Stats.Passthroughs = readPassthroughs(Root);
  return Stats;
}

static llvm::Error checkBlobs(const UnitStore &Store, llvm::ArrayRef<llvm::StringRef> Digests) {
  for (llvm::StringRef Digest : Digests)
    if (!Digest.empty() && (!isEntryName(Digest) || !fs::exists(blobPath(Store.root(), Digest))))
      return malformed("refers to blob " + Digest + ", which is not there");
  return llvm::Error::success();
}

static llvm::Error checkUnit(const UnitStore &Store, llvm::StringRef Key) {
  llvm::Expected<std::optional<Unit>> Record = Store.unit(Key);
  if (!Record)
    return Record.takeError();
  if (!*Record)
    return llvm::Error::success();
  std::vector<llvm::StringRef> Digests;
  for (const UnitImage &Image : (*Record)->Images)
    Digests.insert(Digests.end(), {Image.PtxDigest, Image.CubinDigest});
  for (const EmbeddedPtx &Ptx : (*Record)->Ptx)
    Digests.push_back(Ptx.PtxDigest);
  for (const UnitFrontEnd &F : (*Record)->FrontEnds)
    Digests.push_back(F.InputDigest);
  return checkBlobs(Store, Digests);
}

static llvm::Error checkLink(const UnitStore &Store, llvm::StringRef Key) {
  llvm::Expected<std::optional<DeviceLink>> Record = Store.link(Key);
  if (!Record)
    return Record.takeError();
  if (!*Record)
    return llvm::Error::success();
  std::vector<llvm::StringRef> Digests;
  for (const LinkedImage &Image : (*Record)->Images)
    Digests.push_back(Image.CubinDigest);
  return checkBlobs(Store, Digests);
}

/// Whether the entry names blobs, without which it is of no use.
static bool isRecord(const StoreEntry &Entry) {
  return Entry.Kind == EntryKind::Unit || Entry.Kind == EntryKind::Link ||
         Entry.Kind == EntryKind::Flavour;
}

static llvm::Error checkFlavour(const UnitStore &Store, const StoreEntry &Entry) {
  llvm::Expected<std::string> Json = Store.readEntry(Entry.Path);
  llvm::Expected<std::string> Digest = Json ? parseFlavour(*Json, Entry.Path) : Json.takeError();
  return Digest ? checkBlobs(Store, {*Digest}) : Digest.takeError();
}

/// What is wrong with a unit, link or flavour, the blobs that it names included.
static llvm::Error checkRecord(const UnitStore &Store, const StoreEntry &Entry) {
  if (Entry.Kind == EntryKind::Flavour)
    return checkFlavour(Store, Entry);
  return Entry.Kind == EntryKind::Unit ? checkUnit(Store, Entry.Name)
                                       : checkLink(Store, Entry.Name);
}

/// The containers of the unit or link \p Key; nothing where neither is there.
static llvm::Expected<std::optional<std::vector<std::string>>> containersOf(const UnitStore &Store,
                                                                            llvm::StringRef Key) {
  llvm::Expected<std::optional<Unit>> U = Store.unit(Key);
  if (!U)
    return U.takeError();
  if (*U)
    return std::move((*U)->Containers);
  llvm::Expected<std::optional<DeviceLink>> L = Store.link(Key);
  if (!L)
    return L.takeError();
  if (*L)
    return std::move((*L)->Containers);
  return std::nullopt;
}

static llvm::Error checkContainer(const UnitStore &Store, const StoreEntry &Entry) {
  llvm::StringRef Key = path::filename(Entry.Path);
  auto Containers = containersOf(Store, Key);
  if (!Containers)
    return Containers.takeError();
  if (!*Containers)
    return malformed("leads to unit or link " + Key + ", which is not there");
  if (!llvm::is_contained(**Containers, Entry.Name))
    return malformed("leads to unit or link " + Key + ", which loads another container by now");
  return llvm::Error::success();
}

/// What is wrong with the file of \p Entry, whatever is in it.
static llvm::Error checkFile(const StoreEntry &Entry) {
  auto File = RegularFile::open(Entry.Path, FileLimit::Blob, FileTrust::Ours);
  return File ? llvm::Error::success() : File.takeError();
}

/// What is wrong with \p Entry in itself and in what it refers to.
static llvm::Error check(const UnitStore &Store, const StoreEntry &Entry) {
  if (Entry.Kind == EntryKind::Temporary)
    return llvm::Error::success();
  // Entries of containers are not read otherwise.
  if (llvm::Error Wrong = checkFile(Entry))
    return Wrong;
  if (Entry.Kind == EntryKind::Blob)
    return Store.blob(Entry.Name).takeError();
  if (isRecord(Entry))
    return checkRecord(Store, Entry);
  if (Entry.Kind == EntryKind::Container)
    return checkContainer(Store, Entry);
  llvm::Expected<std::string> Text = Store.readEntry(Entry.Path);
  if (!Text)
    return Text.takeError();
  if (Entry.Kind == EntryKind::Decision)
    return parseProfile(*Text, Entry.Path).takeError();
  return parseJsonText(*Text).takeError();
}

std::vector<StoreFault> UnitStore::verify(bool Repair) {
  std::vector<StoreFault> Faults;
  auto Add = [&](const StoreEntry &Entry, llvm::Error Wrong) {
    bool Newer = Wrong.isA<NewerFormat>();
    StoreFault Fault{Entry.Path, llvm::toString(std::move(Wrong))};
    fs::file_status There; // A link that leads nowhere is there, too.
    if (fs::status(Entry.Path, There, /*follow=*/false))
      return;
    if (Repair && !Newer)
      if (llvm::Error Failed = removeEntry(Entry))
        Fault.What += "; not removed: " + llvm::toString(std::move(Failed));
    Faults.push_back(std::move(Fault));
  };
  for (const StoreEntry &Entry : storeEntries(Root))
    if (llvm::Error Wrong = check(*this, Entry))
      Add(Entry, std::move(Wrong));
  for (const StoreEntry &File : otherFiles(*this))
    if (llvm::Error Wrong = checkFile(File))
      Add(File, std::move(Wrong));
  return Faults;
}

/// Removes the record, of a unit or link after the entries that lead to it.
static llvm::Error removeRecord(const UnitStore &Store, const StoreEntry &Entry) {
  if (Entry.Kind == EntryKind::Flavour)
    return removeEntry(Entry);
  auto Containers = containersOf(Store, Entry.Name);
  if (!Containers) {
    llvm::consumeError(Containers.takeError());
  } else if (*Containers) {
    for (const std::string &Digest : **Containers)
      unlinkContainer(Store.root(), Digest, Entry.Name);
  }
  return removeEntry(Entry);
}

static llvm::Error evict(const UnitStore &Store, const StoreEntry &Entry) {
  return isRecord(Entry) ? removeRecord(Store, Entry) : removeEntry(Entry);
}

/// A unit of which a blob has gone can be neither tuned nor emitted; links and flavours go
/// likewise.
static llvm::Error removeRecordsWithoutBlobs(const UnitStore &Store) {
  for (const StoreEntry &Entry : storeEntries(Store.root())) {
    if (!isRecord(Entry))
      continue;
    llvm::Error Wrong = checkRecord(Store, Entry);
    bool Keep = !Wrong || Wrong.isA<NewerFormat>();
    llvm::consumeError(std::move(Wrong));
    if (Keep)
      continue;
    if (llvm::Error Failed = removeRecord(Store, Entry))
      return Failed;
  }
  return llvm::Error::success();
}

llvm::Error UnitStore::prune(uint64_t MaxBytes) {
  std::vector<StoreEntry> Evictable;
  uint64_t Bytes = otherBytes(*this);
  const auto Now = std::chrono::system_clock::now();
  for (StoreEntry &Entry : storeEntries(Root)) {
    if (Entry.Kind == EntryKind::Temporary && Now - Entry.Modified > TemporaryAge) {
      if (llvm::Error Failed = removeEntry(Entry))
        return Failed;
      continue;
    }
    Bytes += Entry.Bytes;
    if (Entry.Kind == EntryKind::Blob || isRecord(Entry) || Entry.Kind == EntryKind::Attempt ||
        Entry.Kind == EntryKind::Report || Entry.Kind == EntryKind::Search)
      Evictable.push_back(std::move(Entry));
  }
  if (Bytes <= MaxBytes)
    return llvm::Error::success();
  llvm::stable_sort(
      Evictable, [](const StoreEntry &A, const StoreEntry &B) { return A.Modified < B.Modified; });
  for (const StoreEntry &Entry : Evictable) {
    if (Bytes <= MaxBytes)
      break;
    if (llvm::Error Failed = evict(*this, Entry))
      return Failed;
    Bytes -= Entry.Bytes;
  }
  return removeRecordsWithoutBlobs(*this);
}

// The age is renewed before the work, so that of many compiles at once nearly always one prunes.
void UnitStore::pruneSometimes(uint64_t MaxBytes) {
  llvm::SmallString<256> Stamp(Root);
  path::append(Stamp, "pruned");
  const auto Now = std::chrono::system_clock::now();
  fs::file_status Status;
  if (!fs::status(Stamp, Status)) {
    auto Age = Now - Status.getLastModificationTime();
    // A stamp of the future is of a clock that was wrong.
    if (Age >= std::chrono::seconds(-60) && Age < PruneEvery)
      return;
  }
  if (llvm::Error Failed = write(Stamp, "")) {
    llvm::consumeError(std::move(Failed));
    return;
  }
  llvm::consumeError(prune(MaxBytes));
}

llvm::Error UnitStore::clear() {
  for (const StoreEntry &Entry : storeEntries(Root))
    if (llvm::Error Failed = removeEntry(Entry))
      return Failed;
  for (const StoreEntry &File : otherFiles(*this))
    if (llvm::Error Failed = removeFile(File.Path))
      return Failed;
  removeEmptyFolders(Root);
  return llvm::Error::success();
}
