/// \file
/// The work on the whole store: counting, checking, evicting and clearing. Other processes write
/// and remove entries meanwhile, so it is never a failure if an entry is suddenly gone.
#include "Store/StoreUpkeep.h"

#include "Store/Blob.h"
#include "Store/FlavourJson.h"
#include "Store/PassthroughLog.h"
#include "Store/Profile.h"
#include "Store/ProfileReader.h"
#include "Store/PublishedDecisions.h"
#include "Store/RecordBlobs.h"
#include "Store/StoreLayout.h"
#include "Store/StoreLock.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/JsonText.h"
#include "Support/NewerFormat.h"
#include "Support/RemoveTree.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <chrono>
#include <sys/stat.h>
#include <unistd.h>

using namespace carve;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// If a writer has not renamed its temporary after this time, it was killed.
static constexpr std::chrono::hours TemporaryAge(1);
static constexpr std::chrono::hours PruneEvery(1);

static llvm::Error removeFile(const std::string &Path) {
  // This removes a file of any type. LLVM's own function refuses pipes and devices.
  if (::unlink(Path.c_str()) == 0 || errno == ENOENT)
    return llvm::Error::success();
  int Failed = errno;
  removeTree(Path.c_str()); // It is a directory, so this removes it with its content.
  struct stat There;
  if (::lstat(Path.c_str(), &There) != 0)
    return llvm::Error::success();
  return fileError(Path, Failed);
}

/// Removes an entry, and its directory if that held nothing else.
static llvm::Error removeEntry(const StoreEntry &Entry) {
  if (llvm::Error Failed = removeFile(Entry.Path))
    return Failed;
  if (Entry.Kind == EntryKind::Container || Entry.Kind == EntryKind::Blob)
    removeIfEmpty(path::parent_path(Entry.Path));
  return llvm::Error::success();
}

/// Returns true if \p Entry is a decision file that a compile made only for the depfile.
static bool isEmptyProfile(const StoreEntry &Entry) {
  return Entry.Bytes == printProfile({}).size();
}

/// Returns the path of the file whose age is the time since the last pruning.
static std::string stampOfPruning(const UnitStore &Store) { return Store.root() + "/pruned"; }

/// Returns the existing files of the store that are not entries.
static std::vector<StoreEntry> otherFiles(const UnitStore &Store) {
  std::vector<std::string> Paths = passthroughFiles(Store.root());
  Paths.insert(Paths.end(),
               {Store.root() + "/decisions.digest", stampOfPruning(Store), lockPath(Store.root())});
  llvm::append_range(Paths, publishedDigestFiles(Store));
  std::vector<StoreEntry> Files;
  for (std::string &Path : Paths) {
    fs::file_status There;
    if (!fs::status(Path, There, /*follow=*/false))
      Files.push_back({EntryKind::Report, std::move(Path), "", There.getSize(), {}, true});
  }
  return Files;
}

/// Returns the total size of the files that are not entries.
static uint64_t otherBytes(const UnitStore &Store) {
  uint64_t Total = 0;
  for (const StoreEntry &File : otherFiles(Store))
    Total += File.Bytes;
  return Total;
}

StoreStats carve::storeStats(const UnitStore &Store) {
  StoreStats Stats;
  for (const StoreEntry &Entry : storeEntries(Store.root())) {
    if (!Entry.Regular)
      continue;
    Stats.Units += Entry.Kind == EntryKind::Unit;
    Stats.Links += Entry.Kind == EntryKind::Link;
    Stats.Blobs += Entry.Kind == EntryKind::Blob;
    Stats.Decisions += Entry.Kind == EntryKind::Decision && !isEmptyProfile(Entry);
    Stats.Reports += Entry.Kind == EntryKind::Report;
    Stats.Published += Entry.Kind == EntryKind::Published;
    Stats.Bytes += Entry.Bytes;
  }
  Stats.Bytes += otherBytes(Store);
  Stats.Passthroughs = readPassthroughs(Store.root());
  return Stats;
}

/// Returns true if the entry names blobs. Such an entry is useless without them.
static bool isRecord(const StoreEntry &Entry) {
  return Entry.Kind == EntryKind::Unit || Entry.Kind == EntryKind::Link ||
         Entry.Kind == EntryKind::Flavour;
}

/// Returns the digests that a unit, link or flavour refers to; none if the entry has gone.
static llvm::Expected<std::vector<std::string>> blobsOf(const UnitStore &Store,
                                                        const StoreEntry &Entry) {
  if (Entry.Kind == EntryKind::Flavour) {
    llvm::Expected<std::string> Json = Store.readEntry(Entry.Path);
    llvm::Expected<std::string> Digest = Json ? parseFlavour(*Json, Entry.Path) : Json.takeError();
    if (!Digest)
      return Digest.takeError();
    return std::vector<std::string>{std::move(*Digest)};
  }
  if (Entry.Kind == EntryKind::Unit) {
    llvm::Expected<std::optional<Unit>> Record = Store.unit(Entry.Name);
    if (!Record)
      return Record.takeError();
    return *Record ? blobsOf(**Record) : std::vector<std::string>();
  }
  llvm::Expected<std::optional<DeviceLink>> Record = Store.link(Entry.Name);
  if (!Record)
    return Record.takeError();
  return *Record ? blobsOf(**Record) : std::vector<std::string>();
}

/// Fails if a unit, link or flavour is damaged, or if it names a blob that does not exist.
static llvm::Error checkRecord(const UnitStore &Store, const StoreEntry &Entry) {
  llvm::Expected<std::vector<std::string>> Digests = blobsOf(Store, Entry);
  return Digests ? checkBlobs(Store.root(), *Digests) : Digests.takeError();
}

/// Returns the containers of the unit or link \p Key; nothing if neither exists.
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
    return malformed("leads to unit or link " + Key + ", which now loads another container");
  return llvm::Error::success();
}

/// Fails if the file of \p Entry cannot be opened as ours, whatever its content.
static llvm::Error checkFile(const UnitStore &Store, const StoreEntry &Entry) {
  auto File = Store.open(Entry.Path, FileLimit::Blob);
  return File ? llvm::Error::success() : File.takeError();
}

/// Fails if \p Entry is damaged or refers to something that does not exist.
static llvm::Error check(const UnitStore &Store, const StoreEntry &Entry) {
  if (Entry.Kind == EntryKind::Temporary)
    return llvm::Error::success();
  // Container entries are empty, so nothing else opens them.
  if (llvm::Error Wrong = checkFile(Store, Entry))
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
  if (Entry.Kind == EntryKind::Published)
    return checkPublished(Entry.Name, *Text);
  if (Entry.Kind == EntryKind::Decision)
    return parseProfile(*Text, Entry.Path).takeError();
  return parseJsonText(*Text).takeError();
}

std::vector<StoreFault> carve::verifyStore(const UnitStore &Given, bool Repair) {
  const UnitStore Store = Given.alone();
  std::vector<StoreFault> Faults;
  auto Add = [&](const StoreEntry &Entry, llvm::Error Wrong) {
    bool Newer = Wrong.isA<NewerFormat>();
    StoreFault Fault{Entry.Path, llvm::toString(std::move(Wrong))};
    fs::file_status There; // A dangling link counts as present.
    if (fs::status(Entry.Path, There, /*follow=*/false))
      return;
    if (Repair && !Newer)
      if (llvm::Error Failed = removeEntry(Entry))
        Fault.What += "; not removed: " + llvm::toString(std::move(Failed));
    Faults.push_back(std::move(Fault));
  };
  for (const StoreEntry &Entry : storeEntries(Store.root())) {
    if (llvm::Error Wrong = check(Store, Entry))
      llvm::consumeError(std::move(Wrong));
    else
      continue;
    // Another process may have been in the middle of a change. A store that is only read is looked
    // at again without its lock.
    std::optional<StoreLock> Alone;
    if (Store.writable())
      Alone.emplace(Store.root());
    if (llvm::Error Wrong = check(Store, Entry))
      Add(Entry, std::move(Wrong));
  }
  for (const StoreEntry &File : otherFiles(Store))
    if (llvm::Error Wrong = checkFile(Store, File))
      Add(File, std::move(Wrong));
  return Faults;
}

/// Removes a record. For a unit or link it first removes the entries that lead to it.
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

/// Returns true if \p Entry has not been written or used since it was listed.
static bool isUnused(const StoreEntry &Entry) {
  fs::file_status Status;
  return !fs::status(Entry.Path, Status, /*follow=*/false) &&
         Status.getLastModificationTime() == Entry.Modified;
}

/// Removes a blob, unless a compile uses it. If a compile renews its age before the rename, that is
/// seen here; a compile that comes later finds the blob gone and writes it again
/// (UnitStore::putBlob).
static llvm::Error evictBlob(const StoreEntry &Entry) {
  std::string Claimed = temporaryBeside(Entry.Path);
  if (std::error_code Failed = fs::rename(Entry.Path, Claimed))
    return Failed == std::errc::no_such_file_or_directory
               ? llvm::Error::success()
               : llvm::createFileError(Entry.Path, Failed);
  StoreEntry Now = Entry;
  Now.Path = Claimed;
  if (isUnused(Now))
    return removeEntry(Now);
  return llvm::errorCodeToError(fs::rename(Claimed, Entry.Path));
}

/// Removes \p Victims. A unit without one of its blobs can be neither tuned nor emitted, so the
/// unit is removed before its blob. Links and flavours are removed likewise, so that no record ever
/// refers to a missing blob.
static llvm::Error evict(const UnitStore &Store, llvm::ArrayRef<StoreEntry> Victims) {
  StoreLock Alone(Store.root());
  llvm::StringSet<> Records, Blobs;
  for (const StoreEntry &Entry : Victims)
    if (isUnused(Entry)) {
      if (isRecord(Entry))
        Records.insert(Entry.Path);
      else if (Entry.Kind == EntryKind::Blob)
        Blobs.insert(Entry.Name);
    }
  for (const StoreEntry &Entry : storeEntries(Store.root())) {
    if (!isRecord(Entry))
      continue;
    Alone.renew();
    llvm::Error Wrong = checkRecord(Store, Entry);
    bool Newer = Wrong.isA<NewerFormat>(), Goes = Wrong && !Newer;
    llvm::consumeError(std::move(Wrong));
    Goes |= Records.contains(Entry.Path);
    if (llvm::Expected<std::vector<std::string>> Named = blobsOf(Store, Entry))
      Goes |= llvm::any_of(*Named, [&](llvm::StringRef Digest) { return Blobs.contains(Digest); });
    else
      llvm::consumeError(Named.takeError());
    if (Goes)
      if (llvm::Error Failed = removeRecord(Store, Entry))
        return Failed;
  }
  for (const StoreEntry &Entry : Victims) {
    if (isRecord(Entry) || !isUnused(Entry))
      continue;
    Alone.renew();
    if (llvm::Error Failed = Entry.Kind == EntryKind::Blob ? evictBlob(Entry) : removeEntry(Entry))
      return Failed;
  }
  return llvm::Error::success();
}

/// Returns the time now by the clock that dates the store's files, which may be that of a server.
/// It dates the stamp of the last pruning anew for that. If it cannot, it returns this machine's
/// time.
static llvm::sys::TimePoint<> timeOfStore(const UnitStore &Store) {
  const std::string Stamp = stampOfPruning(Store);
  fs::file_status Status;
  if (!fs::is_directory(Store.root())) // There is nothing to prune, and nothing is made for it.
    return std::chrono::system_clock::now();
  if (llvm::Error Failed = Store.write(Stamp, ""))
    llvm::consumeError(std::move(Failed));
  else if (!fs::status(Stamp, Status))
    return Status.getLastModificationTime();
  return std::chrono::system_clock::now();
}

llvm::Error carve::pruneStore(const UnitStore &Given, uint64_t MaxBytes) {
  const UnitStore Store = Given.alone();
  std::vector<StoreEntry> Evictable;
  uint64_t Bytes = otherBytes(Store);
  const auto Now = timeOfStore(Store);
  for (StoreEntry &Entry : storeEntries(Store.root())) {
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
  size_t Victims = 0;
  while (Victims < Evictable.size() && Bytes > MaxBytes)
    Bytes -= Evictable[Victims++].Bytes;
  return evict(Store, llvm::ArrayRef(Evictable).take_front(Victims));
}

// pruneStore() renews the age before its work, so that of many concurrent compiles nearly always
// only one prunes.
void carve::pruneSometimes(const UnitStore &Store, uint64_t MaxBytes) {
  const std::string Stamp = stampOfPruning(Store);
  const auto Now = std::chrono::system_clock::now();
  fs::file_status Status;
  if (!fs::status(Stamp, Status)) {
    auto Age = Now - Status.getLastModificationTime();
    // A stamp in the future comes from a clock that was wrong.
    if (Age >= std::chrono::seconds(-60) && Age < PruneEvery)
      return;
  }
  if (Store.writable())
    llvm::consumeError(pruneStore(Store, MaxBytes));
}

llvm::Error carve::clearStore(const UnitStore &Given) {
  const UnitStore Store = Given.alone();
  StoreLock Alone(Store.root());
  for (const StoreEntry &Entry : storeEntries(Store.root()))
    if (llvm::Error Failed = removeEntry(Entry))
      return Failed;
  for (const StoreEntry &File : otherFiles(Store))
    if (llvm::Error Failed = removeFile(File.Path))
      return Failed;
  removeEmptyFolders(Store.root());
  return llvm::Error::success();
}
