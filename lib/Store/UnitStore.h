/// \file
/// The content-addressed directory of units, blobs, decisions and reports (`$CARVE_STORE`).
/// Compiles fill it, tuning reads it and adds decisions, and later compiles emit them. StoreFiles.h
/// reads and writes its files, and says which are trusted. A record and the entries that lead to it
/// are changed under a lock (StoreLock.h). If the store cannot be written, nothing is remembered
/// and nothing else fails.
///
///   units/<key>.json          one record per unit
///   links/<key>.json          one record per device link (-rdc=true)
///   blobs/<xx>/<digest>       PTX, cubins, preprocessed text; zstd-compressed, checked on reading
///   flavours/<key>.json       which blob the PTX of another front-end setting is (FlavourPtx.h)
///   containers/<digest>/<key> empty: the unit or link <key>, one of several, loads this container
///   decisions/<key>.yaml      a unit's decisions (DecisionFiles.h)
///   attempts/<key>.json       the outcome of the last tuning of a unit
///   reports/<time>-<id>.json  one per tuning
///   searches/<key>.json       one per search of a program's space, with all that it measured
///   workloads/<key>.json      one per workload that was tuned (Tune/TunedWorkload.h)
///   decisions.digest          digest of all decisions, for compiler caches
///   passthroughs.log          reasons of commands handed to nvcc, counted
///   published/<xx>/...        a site's decisions by kernel (PublishedDecisions.h)
///   lock                      empty; StoreLock locks it
///   lock.held                 the same where the file system's locks do not do
///   publish.held              the process that publishes into this store
///   pruned                    its age is the time since the last pruneSometimes() (StoreUpkeep.h)
///
/// A store may have the store of a site above it (`$CARVE_STORE_SITE`). What is not found here is
/// looked for there. The site's store is only read: nothing in it is written, locked, renewed or
/// removed.
#pragma once

#include "Store/DeviceLink.h"
#include "Store/StoreFiles.h"
#include "Store/Unit.h"
#include "Store/UnitKey.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace carve {

/// One store. Several threads and processes may use it at once.
class UnitStore : public StoreFiles {
public:
  /// The store at \p Root. The directory is created on the first write.
  /// A \p SiteRoot that is not empty names the site's store above it.
  explicit UnitStore(std::string Root, llvm::StringRef SiteRoot = "")
      : StoreFiles(std::move(Root)) {
    if (!SiteRoot.empty())
      Above = std::make_shared<const UnitStore>(siteAt(SiteRoot.str()));
  }
  /// Returns the store of a site, which is only read.
  static UnitStore siteAt(std::string Root);
  /// Returns the site's store above this one; null if no site's store was given, or if it is not
  /// used, which is logged once.
  const UnitStore *site() const;
  /// Returns the root of the site's store, whether it is used or not; empty without one.
  llvm::StringRef siteRoot() const { return Above ? llvm::StringRef(Above->root()) : ""; }
  /// Returns this store without the site's above it.
  UnitStore alone() const;

  /// Stores \p Bytes and returns their digest. If the blob exists already, only its age is renewed.
  llvm::Expected<std::string> putBlob(llvm::StringRef Bytes);
  /// Returns the bytes of a blob. Fails if the blob is absent or damaged (its digest differs), so
  /// it never returns other bytes.
  llvm::Expected<std::string> blob(llvm::StringRef Digest) const;

  /// Stores \p U and the containers that lead to it. Copies blobs that only the site has, so that
  /// this store stays whole without the site. Fails if one of its blobs has been evicted.
  llvm::Error putUnit(const Unit &U);
  /// Returns the unit with this key; nothing if there is none. Fails if its record cannot be read.
  llvm::Expected<std::optional<Unit>> unit(llvm::StringRef Key) const;
  /// Returns the units that load a container, the last compiled one first. One source in two
  /// checkouts makes the same container, and each checkout has its own decision. Units that were
  /// rebuilt to something else since are left out.
  std::vector<Unit> unitsOfContainer(llvm::StringRef Digest) const;
  /// Returns the first of unitsOfContainer().
  llvm::Expected<std::optional<Unit>> unitOfContainer(llvm::StringRef Digest) const;
  /// Returns all units that can be read.
  std::vector<Unit> units() const;

  /// These do the same for device links.
  llvm::Error putLink(const DeviceLink &L);
  llvm::Expected<std::optional<DeviceLink>> link(llvm::StringRef Key) const;
  std::vector<DeviceLink> linksOfContainer(llvm::StringRef Digest) const;
  std::vector<DeviceLink> links() const;

  /// Returns the PTX that was stored under \p Key; nothing if there was none or it has been
  /// evicted. Reading renews its age.
  llvm::Expected<std::optional<std::string>> flavour(llvm::StringRef Key) const;
  /// Stores PTX under \p Key. Fails if its blob is evicted meanwhile or the store cannot be
  /// written.
  llvm::Error putFlavour(llvm::StringRef Key, llvm::StringRef Ptx);

  /// Returns the outcome of the last tuning of a unit, a text beside its record; nothing if there
  /// is none.
  llvm::Expected<std::optional<std::string>> attempt(llvm::StringRef Key) const;
  /// Stores the outcome of a tuning. Fails if the store cannot be written, as the following do.
  llvm::Error putAttempt(llvm::StringRef Key, llvm::StringRef Json);

  /// Stores the report of a tuning.
  llvm::Error putReport(llvm::StringRef Name, llvm::StringRef Json);
  /// Returns what a search of a program's space has found; nothing if there is none.
  llvm::Expected<std::optional<std::string>> search(llvm::StringRef Key) const;
  /// Stores the result of a search.
  llvm::Error putSearch(llvm::StringRef Key, llvm::StringRef Json);
  /// Returns the record of a workload that was tuned, or nothing if the store does not have it. The
  /// site is not asked, because the record names a program to run.
  llvm::Expected<std::optional<std::string>> workload(llvm::StringRef Key) const;
  /// Stores the record of a workload.
  llvm::Error putWorkload(llvm::StringRef Key, llvm::StringRef Json);
  /// Returns the newest report by name; nothing if there is none.
  llvm::Expected<std::optional<std::string>> lastReport() const;

  /// Counts one command that was handed to nvcc. It never fails: a store that cannot be written
  /// counts nothing.
  void countPassthrough(llvm::StringRef Reason) const;

private:
  explicit UnitStore(StoreFiles Files) : StoreFiles(std::move(Files)) {}
  template <typename T> llvm::Error putRecord(const T &New);
  llvm::Error linkContainer(llvm::StringRef Digest, llvm::StringRef Key) const;
  llvm::Error copyFromSite(llvm::ArrayRef<std::string> Digests);
  template <typename T> std::optional<T> fromSite(llvm::Expected<std::optional<T>> Found) const;
  std::shared_ptr<const UnitStore> Above;
};

} // namespace carve
