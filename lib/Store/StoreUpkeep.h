/// \file
/// The upkeep of the store: it counts what is stored, finds damage, and removes the oldest entries
/// if the store is too large. `carve store` calls it, and compiles prune now and then.
#pragma once

#include "Store/UnitStore.h"

#include <cstdint>
#include <map>
#include <string>

namespace carve {

/// The content of the store in numbers.
struct StoreStats {
  uint64_t Units = 0, Links = 0, Blobs = 0, Decisions = 0, Reports = 0;
  uint64_t Published = 0; ///< Decisions that this store offers to others.
  uint64_t Bytes = 0;
  std::map<std::string, uint64_t> Passthroughs; ///< Number of commands handed to nvcc, by reason.
};

/// One fault that verifyStore() found.
struct StoreFault {
  std::string Path;
  std::string What;
};

/// These look at the store itself, without the site's above it.

/// Returns the counts and the total size of the store.
StoreStats storeStats(const UnitStore &Store);
/// Reads everything and returns what is damaged. If \p Repair is set, it also removes the damaged
/// entries, except those of a newer format.
std::vector<StoreFault> verifyStore(const UnitStore &Store, bool Repair);
/// Removes the entries that were not used for the longest time until at most \p MaxBytes remain:
/// blobs, units, links, flavours, attempts, reports and searches. A unit, link or flavour is
/// removed when one of its blobs is removed, together with the container entries that lead to it.
/// Its decisions and workloads stay, because they are small and expensive to make again.
/// Temporaries older than an hour go first: their writers were killed. Entries that are used
/// meanwhile stay. Fails if an entry cannot be removed.
llvm::Error pruneStore(const UnitStore &Store, uint64_t MaxBytes);
/// Calls pruneStore(), at most once an hour, as a side effect of a compile. Failures are ignored.
void pruneSometimes(const UnitStore &Store, uint64_t MaxBytes);
/// Removes everything that the store wrote, and nothing else. Fails if a file cannot be removed.
llvm::Error clearStore(const UnitStore &Store);

} // namespace carve
