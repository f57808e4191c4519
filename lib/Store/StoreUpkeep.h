/// \file
/// The upkeep of the store: how much is in it, what of it is damaged, and what goes when it is too
/// large.
#pragma once

#include "Store/UnitStore.h"

namespace carve {

struct StoreStats {
  uint64_t Units = 0, Links = 0, Blobs = 0, Decisions = 0, Reports = 0;
  uint64_t Bytes = 0;
  std::map<std::string, uint64_t> Passthroughs; ///< By reason.
};

/// One thing found wrong by verifyStore().
struct StoreFault {
  std::string Path;
  std::string What;
};

StoreStats storeStats(const UnitStore &Store);
/// Reads everything and reports what is damaged; with \p Repair, removes it.
std::vector<StoreFault> verifyStore(const UnitStore &Store, bool Repair);
/// Removes the longest unused blobs, units, links, flavours, attempts, reports and searches until
/// at most \p MaxBytes remain. A unit, link or flavour goes when one of its blobs goes, and takes
/// the container entries that lead to it along; its decisions stay (they are small and dear).
/// Temporaries of writers killed an hour ago go first. What is used meanwhile stays.
llvm::Error pruneStore(const UnitStore &Store, uint64_t MaxBytes);
/// pruneStore(), at most once an hour, as a side effect of a compile.
void pruneSometimes(const UnitStore &Store, uint64_t MaxBytes);
/// Removes everything that the store wrote, and nothing else.
llvm::Error clearStore(const UnitStore &Store);

} // namespace carve
