#include "Store/PublishedDecisions.h"

#include "Store/DecisionFiles.h"
#include "Store/ProfileReader.h"
#include "Store/RecordBlobs.h"
#include "Store/StoreLayout.h"
#include "Store/UserProfile.h"
#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Log.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <map>
#include <set>
#include <tuple>
#include <unistd.h>

using namespace carve;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static constexpr llvm::StringLiteral Extension = ".yaml";

/// Returns the folder of the decisions for kernels of which \p NameDigest is the name's digest.
static std::string bucketOf(const UnitStore &Site, llvm::StringRef NameDigest) {
  return entryFolder(Site.root(), EntryKind::Published) + "/" + NameDigest.take_front(2).str();
}

static std::string bucketDigestFile(llvm::StringRef Bucket) { return (Bucket + "/digest").str(); }

std::string carve::allPublishedFile(const UnitStore &Site) {
  return normalisedPath(Site.root() + "/published.digest");
}

bool carve::hasPublished(const UnitStore &Site) { return fs::exists(allPublishedFile(Site)); }

/// Returns the file name, without extension, of the published decision with this content.
static std::string recordName(llvm::StringRef Kernel, llvm::StringRef Text) {
  return digestOf(Kernel) + "-" + digestOf(Text);
}

/// Returns the names of the decisions in a folder, without extension, sorted.
static std::vector<std::string> recordsIn(llvm::StringRef Bucket) {
  std::vector<std::string> Names;
  std::error_code Failed;
  for (fs::directory_iterator It(Bucket, Failed, /*follow_symlinks=*/false), End;
       !Failed && It != End; It.increment(Failed)) {
    llvm::StringRef Name = path::filename(It->path());
    if (Name.consume_back(Extension) && isDigestName(Name.split('-').first) &&
        isDigestName(Name.split('-').second))
      Names.push_back(Name.str());
  }
  llvm::sort(Names);
  return Names;
}

/// Returns the one decision that \p Text holds.
static llvm::Expected<Decision> parsePublished(llvm::StringRef Name, llvm::StringRef Text) {
  llvm::Expected<Profile> P = parseProfile(Text, Name);
  if (!P)
    return P.takeError();
  if (P->Kernels.size() != 1 || !P->Kernels.front().Digest || !P->Kernels.front().Basis)
    return malformed(Name + ": expected one decision with digest and evidence");
  if (recordName(P->Kernels.front().Kernel, Text) != Name)
    return malformed(Name + ": expected the name " + recordName(P->Kernels.front().Kernel, Text) +
                     " by its content");
  return std::move(P->Kernels.front());
}

llvm::Error carve::checkPublished(llvm::StringRef Name, llvm::StringRef Text) {
  return parsePublished(Name, Text).takeError();
}

namespace {

/// A published decision and the name of its file.
struct PublishedRecord {
  std::string Name;
  Decision Content;
};

/// Orders by the date of the evidence. If two have the same date, every reader has to choose the
/// same one, so the content decides.
bool isEarlier(const PublishedRecord &A, const PublishedRecord &B) {
  return std::tie(A.Content.Basis->Date, A.Name) < std::tie(B.Content.Basis->Date, B.Name);
}

bool decidesOnSame(const Decision &A, const Decision &B) {
  return A.Kernel == B.Kernel && A.Arch == B.Arch && A.Digest == B.Digest;
}

} // namespace

/// Returns the decisions in \p Bucket for names with one of \p NameDigests, the latest last. If a
/// publisher replaces a record after it was listed here, the folder is listed anew.
static std::vector<PublishedRecord> readBucket(const UnitStore &Site, llvm::StringRef Bucket,
                                               const std::set<std::string> &NameDigests) {
  constexpr int Attempts = 5;
  std::vector<PublishedRecord> Records;
  bool Replaced = true;
  for (int Attempt = 0; Replaced && Attempt < Attempts; ++Attempt) {
    Replaced = false;
    Records.clear();
    for (const std::string &Name : recordsIn(Bucket)) {
      if (!NameDigests.count(llvm::StringRef(Name).split('-').first.str()))
        continue;
      auto Text = Site.readIfThere((Bucket + "/" + Name + Extension).str());
      if (Text && !*Text) {
        Replaced = true;
        break;
      }
      llvm::Expected<Decision> D = Text ? parsePublished(Name, **Text) : Text.takeError();
      if (D)
        Records.push_back({Name, std::move(*D)});
      else
        logLine("warning: " + Bucket + ": " + llvm::toString(D.takeError()));
    }
  }
  llvm::sort(Records, isEarlier);
  return Records;
}

/// Returns the digests of \p Kernels' names by folder of the site's store.
static std::map<std::string, std::set<std::string>>
bucketsOf(const UnitStore &Site, llvm::ArrayRef<KernelIdentity> Kernels) {
  std::map<std::string, std::set<std::string>> Buckets;
  for (const KernelIdentity &K : Kernels)
    for (const std::string &Name : {K.Name, K.Mangled}) {
      std::string Digest = digestOf(Name);
      Buckets[bucketOf(Site, Digest)].insert(std::move(Digest));
    }
  return Buckets;
}

std::vector<Decision> carve::publishedDecisions(const UnitStore &Site,
                                                llvm::ArrayRef<KernelIdentity> Kernels) {
  std::vector<PublishedRecord> Records;
  for (const auto &[Bucket, NameDigests] : bucketsOf(Site, Kernels))
    llvm::append_range(Records, readBucket(Site, Bucket, NameDigests));
  llvm::sort(Records, isEarlier);
  std::vector<Decision> Decisions;
  for (PublishedRecord &R : Records)
    Decisions.push_back(std::move(R.Content));
  return Decisions;
}

std::vector<std::string> carve::publishedDigests(const Unit &U, const UnitStore &Store) {
  std::vector<std::string> Paths;
  if (const UnitStore *Site = Store.site())
    for (const auto &[Bucket, NameDigests] : bucketsOf(*Site, kernelsOf(U, Store)))
      if (std::string Path = normalisedPath(bucketDigestFile(Bucket)); fs::exists(Path))
        Paths.push_back(std::move(Path));
  return Paths;
}

/// Returns all folders of the site's decisions, whether they exist or not.
static std::vector<std::string> allBuckets(const UnitStore &Site) {
  constexpr llvm::StringLiteral Digits = "0123456789abcdef";
  std::vector<std::string> Buckets;
  for (char High : Digits)
    for (char Low : Digits)
      Buckets.push_back(bucketOf(Site, std::string{High, Low}));
  return Buckets;
}

std::vector<std::string> carve::publishedDigestFiles(const UnitStore &Site) {
  std::vector<std::string> Paths;
  if (!fs::is_directory(entryFolder(Site.root(), EntryKind::Published)))
    return Paths;
  Paths.push_back(allPublishedFile(Site));
  for (const std::string &Bucket : allBuckets(Site))
    Paths.push_back(bucketDigestFile(Bucket));
  return Paths;
}

/// Writes \p Text into \p Path unless it holds that already, so that the file keeps its date.
static llvm::Error writeIfOther(const UnitStore &Site, const std::string &Path,
                                llvm::StringRef Text) {
  llvm::Expected<std::string> Old = Site.readEntry(Path);
  if (!Old)
    llvm::consumeError(Old.takeError());
  else if (*Old == Text)
    return llvm::Error::success();
  return Site.write(Path, Text);
}

/// Brings the digests of all folders up to date, those without decisions included: a compile can
/// list only a file that exists.
static llvm::Error refreshDigests(const UnitStore &Site, LinkLock &Alone) {
  std::vector<std::string> All;
  for (const std::string &Bucket : allBuckets(Site)) {
    std::vector<std::string> Names = recordsIn(Bucket);
    std::vector<llvm::StringRef> Views(Names.begin(), Names.end());
    All.push_back(digestOfFields(Views));
    if (llvm::Error Failed = writeIfOther(Site, bucketDigestFile(Bucket), All.back() + "\n"))
      return Failed;
    Alone.renew();
  }
  std::vector<llvm::StringRef> Views(All.begin(), All.end());
  return writeIfOther(Site, allPublishedFile(Site), digestOfFields(Views) + "\n");
}

/// Writes \p D into the site's store, and removes what the site had for the same kernel, code and
/// toolkit with earlier evidence.
static llvm::Error putDecision(const Decision &D, const UnitStore &Site, Publication &Done) {
  Profile One;
  One.Kernels = {D};
  const std::string Text = printProfile(One);
  PublishedRecord New{recordName(D.Kernel, Text), D};
  const std::string Bucket = bucketOf(Site, New.Name);
  std::vector<PublishedRecord> Same =
      readBucket(Site, Bucket, {llvm::StringRef(New.Name).split('-').first.str()});
  llvm::erase_if(Same, [&](const PublishedRecord &R) { return !decidesOnSame(R.Content, D); });
  if (llvm::any_of(Same, [&](const PublishedRecord &R) { return !isEarlier(R, New); })) {
    ++Done.Known;
    return llvm::Error::success();
  }
  // A reader finds the old one or both, and of both it takes the later.
  if (llvm::Error Failed = Site.write(Bucket + "/" + New.Name + Extension.str(), Text))
    return Failed;
  for (const PublishedRecord &R : Same)
    (void)::unlink((Bucket + "/" + R.Name + Extension.str()).c_str());
  ++Done.New;
  Done.Replaced += !Same.empty();
  return llvm::Error::success();
}

/// Copies the blobs that a record names.
static llvm::Error copyBlobs(llvm::ArrayRef<std::string> Digests, const UnitStore &From,
                             UnitStore &Site, LinkLock &Alone) {
  for (const std::string &Digest : Digests) {
    if (Digest.empty() || fs::exists(blobPath(Site.root(), Digest)))
      continue;
    llvm::Expected<std::string> Bytes = From.blob(Digest);
    llvm::Expected<std::string> Put = Bytes ? Site.putBlob(*Bytes) : Bytes.takeError();
    if (!Put)
      return Put.takeError();
    Alone.renew();
  }
  return llvm::Error::success();
}

/// Returns the decisions of the unit \p Key that a tuning made. What cannot be read is logged.
static std::vector<Decision> tunedDecisions(const UnitStore &From, llvm::StringRef Key) {
  std::vector<Decision> Tuned;
  llvm::Expected<std::optional<std::string>> Text = readDecisions(From, Key);
  llvm::Expected<Profile> P =
      Text ? (*Text ? parseProfile(**Text, Key) : Profile()) : Text.takeError();
  if (!P) {
    logLine(llvm::toString(P.takeError()));
    return Tuned;
  }
  for (Decision &D : P->Kernels)
    if (D.Digest && D.Basis && !D.Arch.empty())
      Tuned.push_back(std::move(D));
  return Tuned;
}

/// Writes the unit \p Key into the site's store. It may have been evicted, or be damaged; its
/// decisions are published even so.
static void publishUnit(llvm::StringRef Key, const UnitStore &From, UnitStore &Site,
                        LinkLock &Alone, Publication &Done) {
  llvm::Expected<std::optional<Unit>> U = From.unit(Key);
  llvm::Error Failed = U ? llvm::Error::success() : U.takeError();
  if (!Failed && !*U)
    return;
  if (!Failed)
    Failed = copyBlobs(blobsOf(**U), From, Site, Alone);
  if (!Failed) {
    // Its object was made of files of this user, and by a command of this user.
    (*U)->Object.reset();
    Failed = Site.putUnit(**U);
  }
  Done.Records += !Failed;
  if (Failed)
    logLine("unit " + Key + " is not published: " + llvm::toString(std::move(Failed)));
}

static void publishLink(const DeviceLink &L, const UnitStore &From, UnitStore &Site,
                        LinkLock &Alone, Publication &Done) {
  llvm::Error Failed = copyBlobs(blobsOf(L), From, Site, Alone);
  if (!Failed)
    Failed = Site.putLink(L);
  Done.Records += !Failed;
  if (Failed)
    logLine("link " + L.Key + " is not published: " + llvm::toString(std::move(Failed)));
}

// The order matters if the process is killed: a record comes after its blobs, and the digests,
// which make users compile anew, come last.
llvm::Expected<Publication> carve::publish(const UnitStore &From, UnitStore &Site,
                                           LinkLock &Alone) {
  Publication Done;
  auto StillAlone = [&]() -> llvm::Error {
    Alone.renew();
    return Alone.isHeld() ? llvm::Error::success()
                          : malformed(publishLockPath(Site.root()) +
                                      ": another process has taken the lock over");
  };
  const UnitStore Own = From.alone();
  for (const std::string &Key : entryNames(Own.root(), EntryKind::Decision)) {
    std::vector<Decision> Tuned = tunedDecisions(Own, Key);
    if (Tuned.empty())
      continue;
    if (llvm::Error Lost = StillAlone())
      return Lost;
    publishUnit(Key, Own, Site, Alone, Done);
    for (const Decision &D : Tuned)
      if (llvm::Error Failed = putDecision(D, Site, Done))
        return Failed;
  }
  for (const DeviceLink &L : Own.links()) {
    if (llvm::Error Lost = StillAlone())
      return Lost;
    publishLink(L, Own, Site, Alone, Done);
  }
  if (llvm::Error Failed = refreshDigests(Site, Alone))
    return Failed;
  return Done;
}
