/// \file
/// Tunes one shard of a plan on this node, for `carve fleet run`. A killed run leaves nothing but
/// what the next one begins anew; a finished one is not repeated.
#pragma once

#include "Command/CommandContext.h"
#include "Fleet/FleetPlan.h"
#include "Fleet/ShardResult.h"
#include "Support/ProgressDisplay.h"
#include "Tune/TunePipeline.h"

#include <optional>

namespace carve {

/// Returns the name of this node: the one that Slurm gives it (`SLURMD_NODENAME`), else the host's.
std::string nodeName(GetEnv Env);

/// Returns the request for \p Shard. Files that the options of \p Plan name are sought where the
/// plan was made. Fails with UsageError if an option is not known.
llvm::Expected<TuneRequest> plannedRequest(const FleetPlan &Plan, const PlannedShard &Shard);

/// Tunes shard \p Shard of \p Plan, which lies in \p Folder, and writes the result there. The
/// tuning has a store of its own, which is removed. Returns the result; nothing if this node, \p
/// Node, has one already. Fails as tune() does, with UsageError if there is no GPU or no such
/// shard, and if the program cannot be traced; then no result is written, so that the shard is not
/// finished.
llvm::Expected<std::optional<ShardResult>> runShard(const FleetPlan &Plan, llvm::StringRef Folder,
                                                    size_t Shard, const std::string &Node,
                                                    const CommandContext &Context,
                                                    ProgressDisplay &Progress);

} // namespace carve
