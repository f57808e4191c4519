/// \file
/// Says in how much of a traced run the guard of a further entry held. A tuning asks it of the
/// entries that it makes, and of those that are in force already; `carve explain` asks it of the
/// latter.
#pragma once

#include "Search/EntryGuard.h"
#include "Tune/Job/TuningJob.h"

namespace carve {

/// Returns whether a launch such as \p L may take a further entry. A cooperative one, one with a
/// cluster, and one with more shared memory than needs no attribute take the kernel itself.
bool mayTakeEntry(const KernelLaunches &L);

/// Returns at how many of the launches of \p Kernel, and in which part of its GPU time, \p Guard
/// held and the launch could take an entry: mayTakeEntry(), and no graph made it. The trace has the
/// time of each launch shape, but of each argument only whether it ever changed, at all launches
/// and at those of a shape, and of graphs only the number of launches: where these matter, the
/// result is an upper bound.
GuardHold holdOf(const EntryGuard &Guard, const TracedKernel &Kernel);

/// Returns the number of the guard among \p Guards whose entry all launches of \p Kernel with the
/// shape of \p L take: the first that holds. Returns nothing if none does, or if it depends on the
/// launch.
std::optional<size_t> entryOf(llvm::ArrayRef<EntryGuard> Guards, const TracedKernel &Kernel,
                              const KernelLaunches &L);

} // namespace carve
