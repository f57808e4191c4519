/// \file
/// Makes the folder of a plan: with all that the nodes need, so that they neither read nor write
/// the store of the machine where the plan was made.
#pragma once

#include "Fleet/FleetPlan.h"
#include "Store/UnitStore.h"

namespace carve {

/// Deals the captures \p Files out to at most \p Shards shards of \p Plan, and sets the GPU of the
/// plan if they are all of one. Fails if a capture cannot be read.
llvm::Error planCaptures(llvm::ArrayRef<std::string> Files, unsigned Shards, FleetPlan &Plan);

/// Deals the kernels of those units of \p Store that are in \p Folders (absolute paths; empty for
/// all units) out to at most \p Shards shards of \p Plan, and writes these units into \p
/// PlanFolder. Fails with UsageError if there is no kernel.
llvm::Error planKernels(const UnitStore &Store, llvm::ArrayRef<std::string> Folders,
                        unsigned Shards, llvm::StringRef PlanFolder, FleetPlan &Plan);

/// Writes \p Plan and \p JobScript, and makes the folders of the shards and of their logs. The plan
/// is written last. Fails if the folder has a plan already.
llvm::Error writePlan(const FleetPlan &Plan, llvm::StringRef JobScript, llvm::StringRef Folder);

} // namespace carve
