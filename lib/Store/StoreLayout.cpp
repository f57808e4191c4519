#include "Store/StoreLayout.h"

#include "Support/RegularFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <unistd.h>

using namespace carve;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace {

struct Folder {
  llvm::StringLiteral Name, Extension;
  EntryKind Kind;
  bool Nested; ///< Its entries lie one directory deeper.
};

// A referenced entry comes before the entries that refer to it. So one pass of verifyStore() that
// removes damaged entries also finds the references that a removal has left dangling.
constexpr Folder Folders[] = {
    {"blobs", "", EntryKind::Blob, true},
    {"units", ".json", EntryKind::Unit, false},
    {"links", ".json", EntryKind::Link, false},
    {"flavours", ".json", EntryKind::Flavour, false},
    {"containers", "", EntryKind::Container, true},
    {"decisions", ".yaml", EntryKind::Decision, false},
    {"attempts", ".json", EntryKind::Attempt, false},
    {"reports", ".json", EntryKind::Report, false},
    {"searches", ".json", EntryKind::Search, false},
    {"workloads", ".json", EntryKind::Workload, false},
    {"published", ".yaml", EntryKind::Published, true},
};

} // namespace

static const Folder &folderOf(EntryKind Kind) {
  for (const Folder &F : Folders)
    if (F.Kind == Kind)
      return F;
  llvm_unreachable("temporaries have no folder of their own");
}

static std::string under(llvm::StringRef Folder, llvm::StringRef Name) {
  llvm::SmallString<256> Path(Folder);
  path::append(Path, Name);
  return Path.str().str();
}

bool carve::isEntryName(llvm::StringRef Name) {
  return !Name.empty() && Name.front() != '.' &&
         Name.find_first_of(llvm::StringRef("/\0", 2)) == llvm::StringRef::npos;
}

std::string carve::whyStoreRefused(llvm::StringRef Root, std::optional<uid_t> AlsoTrusted) {
  std::vector<std::string> Directories = {Root.str()};
  for (const Folder &F : Folders)
    Directories.push_back(under(Root, F.Name));
  for (const std::string &Directory : Directories) {
    struct stat Status;
    if (::stat(Directory.c_str(), &Status) != 0)
      continue;
    if (std::string Why = whyNotOurs(Status, Directory, AlsoTrusted); !Why.empty())
      return Why;
  }
  return "";
}

std::string carve::entryFolder(llvm::StringRef Root, EntryKind Kind) {
  return under(Root, folderOf(Kind).Name);
}

std::string carve::entryPath(llvm::StringRef Root, EntryKind Kind, llvm::StringRef Name) {
  return under(entryFolder(Root, Kind), Name.str() + folderOf(Kind).Extension.str());
}

std::string carve::blobPath(llvm::StringRef Root, llvm::StringRef Digest) {
  return under(under(entryFolder(Root, EntryKind::Blob), Digest.take_front(2)), Digest);
}

std::string carve::lockPath(llvm::StringRef Root) { return under(Root, "lock"); }

std::string carve::linkLockPath(llvm::StringRef Root) { return under(Root, "lock.held"); }

std::string carve::publishLockPath(llvm::StringRef Root) { return under(Root, "publish.held"); }

std::string carve::containerFolder(llvm::StringRef Root, llvm::StringRef Digest) {
  return under(entryFolder(Root, EntryKind::Container), Digest);
}

void carve::unlinkContainer(llvm::StringRef Root, llvm::StringRef Digest, llvm::StringRef Key) {
  std::string Folder = containerFolder(Root, Digest);
  (void)::unlink(under(Folder, Key).c_str());
  removeIfEmpty(Folder);
}

bool carve::isDigestName(llvm::StringRef Name) {
  return Name.size() == 32 && llvm::all_of(Name, llvm::isHexDigit);
}

/// Fills \p Entry for the file \p Path in \p F. Returns true if the file is named as an entry.
static bool classify(const Folder &F, llvm::StringRef Path, StoreEntry &Entry) {
  llvm::StringRef Name = path::filename(Path);
  llvm::StringRef Above = path::filename(path::parent_path(Path));
  Entry.Path = Path.str();
  Entry.Kind = F.Kind;
  if (Name.contains(".carve-")) { // temporaryBeside() names temporaries like this.
    Entry.Kind = EntryKind::Temporary;
    return true;
  }
  if (!Name.consume_back(F.Extension))
    return false;
  Entry.Name = F.Kind == EntryKind::Container ? Above.str() : Name.str();
  switch (F.Kind) {
  case EntryKind::Blob:
    return isDigestName(Name) && Above == Name.take_front(2);
  case EntryKind::Container:
    // A file that was removed while somebody read it has another name on NFS until it is closed.
    return isDigestName(Above) && !Name.starts_with(".nfs");
  case EntryKind::Published:
    return isDigestName(Name.split('-').first) && isDigestName(Name.split('-').second) &&
           Above == Name.take_front(2);
  default:
    return true;
  }
}

static void collect(const Folder &F, const std::string &Directory, bool Nested,
                    std::vector<StoreEntry> &Entries) {
  std::error_code Failed;
  for (fs::directory_iterator It(Directory, Failed, /*follow_symlinks=*/false), End;
       !Failed && It != End; It.increment(Failed)) {
    StoreEntry Entry{};
    fs::file_status Status;
    if (fs::status(It->path(), Status, /*follow=*/false))
      continue;
    if (Nested && Status.type() == fs::file_type::directory_file) {
      collect(F, It->path(), /*Nested=*/false, Entries);
      continue;
    }
    // A link in place of a folder is itself the fault: what it leads to does not belong to us.
    bool IsFoldersLink = Nested && Status.type() == fs::file_type::symlink_file;
    bool IsEntry = classify(F, It->path(), Entry);
    if (Nested ? !IsFoldersLink : !IsEntry)
      continue;
    Entry.Regular = Status.type() == fs::file_type::regular_file;
    Entry.Bytes = Status.getSize();
    Entry.Modified = Status.getLastModificationTime();
    Entries.push_back(std::move(Entry));
  }
}

/// Adds what writers of a LinkLock that were killed have left in the store's root.
static void collectLockFiles(llvm::StringRef Root, std::vector<StoreEntry> &Entries) {
  std::error_code Failed;
  for (fs::directory_iterator It(Root, Failed, /*follow_symlinks=*/false), End;
       !Failed && It != End; It.increment(Failed)) {
    llvm::StringRef Name = path::filename(It->path());
    fs::file_status Status;
    if ((Name.starts_with("lock.held.carve-") || Name.starts_with("publish.held.carve-")) &&
        !fs::status(It->path(), Status, /*follow=*/false))
      Entries.push_back({EntryKind::Temporary, It->path(), "", Status.getSize(),
                         Status.getLastModificationTime(),
                         Status.type() == fs::file_type::regular_file});
  }
}

std::vector<StoreEntry> carve::storeEntries(llvm::StringRef Root) {
  std::vector<StoreEntry> Entries;
  collectLockFiles(Root, Entries);
  for (const Folder &F : Folders)
    collect(F, under(Root, F.Name), F.Nested, Entries);
  return Entries;
}

std::vector<std::string> carve::entryNames(llvm::StringRef Root, EntryKind Kind) {
  std::vector<StoreEntry> Entries;
  const Folder &F = folderOf(Kind);
  collect(F, under(Root, F.Name), F.Nested, Entries);
  std::vector<std::string> Names;
  for (StoreEntry &Entry : Entries)
    if (Entry.Kind == Kind)
      Names.push_back(std::move(Entry.Name));
  llvm::sort(Names);
  return Names;
}

void carve::removeIfEmpty(llvm::StringRef Path) { (void)::rmdir(Path.str().c_str()); }

void carve::removeEmptyFolders(llvm::StringRef Root) {
  for (const Folder &F : Folders) {
    std::error_code Failed;
    if (F.Nested)
      for (fs::directory_iterator It(under(Root, F.Name), Failed, /*follow_symlinks=*/false), End;
           !Failed && It != End; It.increment(Failed))
        removeIfEmpty(It->path());
    removeIfEmpty(under(Root, F.Name));
  }
  removeIfEmpty(Root);
}
