/// \file
/// The content-addressed directory of units, blobs, decisions and reports (`$CARVE_STORE`). Every
/// write is a temporary renamed into place, a record and what leads to it are changed under a lock
/// (StoreLock.h), and an unwritable store only means that nothing is remembered.
///
///   units/<key>.json          one record per unit
///   links/<key>.json          one record per device link (-rdc=true)
///   blobs/<xx>/<digest>       PTX, cubins, preprocessed text; zstd-compressed, checked on reading
///   flavours/<key>.json       which blob the PTX is that cicc made at another cap (FlavourPtx.h)
///   containers/<digest>/<key> empty: the unit or link <key> loads this container; several may
///   decisions/<key>.yaml      a unit's decisions (DecisionFiles.h)
///   attempts/<key>.json       what became of the last tuning of a unit
///   reports/<time>-<id>.json  one per tuning
///   searches/<key>.json       one per search of a program's space, with all that it measured
///   decisions.digest          of all decisions, for compiler caches
///   passthroughs.log          reasons of commands handed to nvcc, counted
///   lock                      empty, of StoreLock
///   pruned                    its age is that of the last pruneSometimes() (StoreUpkeep.h)
///
/// Nothing is read that another user may have written, and what we write no other user can.
#pragma once

#include "Store/DeviceLink.h"
#include "Store/Unit.h"
#include "Store/UnitKey.h"
#include "Support/RegularFile.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace carve {

class UnitStore {
public:
  /// The store at \p Root, which is created when first written to.
  explicit UnitStore(std::string Root) : Root(std::move(Root)) {}
  const std::string &root() const { return Root; }
  /// Whether the store can be written to and is used; makes its directory where that is missing.
  bool writable() const;
  /// Why it is not used: another user can write it, or a folder in it. Empty where it is used.
  const std::string &refusal() const;
  /// A file of the store. Fails where the store is refused, and as RegularFile::open() does.
  llvm::Expected<std::string> readEntry(llvm::StringRef Path,
                                        uint64_t MostBytes = FileLimit::Record) const;
  /// The same; nothing where it does not exist.
  llvm::Expected<std::optional<std::string>> readIfThere(llvm::StringRef Path) const;
  /// Writes a file of the store by a temporary renamed into place, its folders too. A directory in
  /// its place is removed. Fails if the store is refused.
  llvm::Error write(llvm::StringRef Path, llvm::StringRef Bytes) const;

  /// Keeps \p Bytes and returns their digest. Writing what is already there only renews its age.
  llvm::Expected<std::string> putBlob(llvm::StringRef Bytes);
  /// Fails where the blob is absent, or damaged (its digest differs): never returns other bytes.
  llvm::Expected<std::string> blob(llvm::StringRef Digest) const;

  /// Keeps \p U and the containers that lead to it. Fails where a blob of it has been evicted.
  llvm::Error putUnit(const Unit &U);
  llvm::Expected<std::optional<Unit>> unit(llvm::StringRef Key) const;
  /// The units that load a container, the last compiled first (one source in two checkouts makes
  /// the same one, and a decision belongs to each), without those rebuilt since to something else.
  std::vector<Unit> unitsOfContainer(llvm::StringRef Digest) const;
  /// The first of unitsOfContainer().
  llvm::Expected<std::optional<Unit>> unitOfContainer(llvm::StringRef Digest) const;
  /// All units, unreadable ones left out.
  std::vector<Unit> units() const;

  /// The same for device links.
  llvm::Error putLink(const DeviceLink &L);
  llvm::Expected<std::optional<DeviceLink>> link(llvm::StringRef Key) const;
  std::vector<DeviceLink> linksOfContainer(llvm::StringRef Digest) const;
  std::vector<DeviceLink> links() const;

  /// The PTX that was kept under \p Key; nothing where none was, or where it has been evicted
  /// since. Reading it renews its age.
  llvm::Expected<std::optional<std::string>> flavour(llvm::StringRef Key) const;
  llvm::Error putFlavour(llvm::StringRef Key, llvm::StringRef Ptx);

  /// What became of the last tuning of a unit, as a text beside its record.
  llvm::Expected<std::optional<std::string>> attempt(llvm::StringRef Key) const;
  llvm::Error putAttempt(llvm::StringRef Key, llvm::StringRef Json);

  llvm::Error putReport(llvm::StringRef Name, llvm::StringRef Json);
  /// What a search of a program's space has found.
  llvm::Expected<std::optional<std::string>> search(llvm::StringRef Key) const;
  llvm::Error putSearch(llvm::StringRef Key, llvm::StringRef Json);
  /// The newest report, by name.
  llvm::Expected<std::optional<std::string>> lastReport() const;

  /// Counts one command handed to nvcc. Never fails: a store that cannot be written counts nothing.
  void countPassthrough(llvm::StringRef Reason) const;

private:
  struct TrustState {
    std::once_flag Looked;
    std::string Refusal;
  };
  template <typename T> llvm::Error putRecord(const T &New);
  llvm::Error linkContainer(llvm::StringRef Digest, llvm::StringRef Key) const;
  std::string Root;
  std::shared_ptr<TrustState> Trust = std::make_shared<TrustState>(); ///< Of all copies.
};

} // namespace carve
