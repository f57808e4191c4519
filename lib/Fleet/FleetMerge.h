/// \file
/// Makes decisions of the results of all shards. It refuses results that cannot be compared with
/// the others, and says which shards too few nodes have finished.
#pragma once

#include "Fleet/FleetPlan.h"
#include "Fleet/ShardResult.h"

#include <map>

namespace carve {

/// A shard that fewer nodes have finished than must agree.
struct UnfinishedShard {
  size_t Shard = 0;
  std::vector<std::string> Nodes; ///< Those that have, sorted.
};

/// A kernel for which some node has a winner that too few others support.
struct DisagreedKernel {
  std::string Kernel, Arch;
  std::string Opinions; ///< What each node would use: `cap 64 on node1, default on node2`.
};

/// What came of a plan.
struct MergedFleet {
  size_t Shards = 0;  ///< Of the plan.
  size_t Results = 0; ///< That were used.
  /// What all results must have: the GPU, the major version of its driver, and nvcc's version.
  /// Where the plan does not say it, it is what most results have.
  std::string Device, DriverBranch, Toolkit;
  size_t Tuned = 0, Default = 0; ///< Decided kernels that get a variant, and that keep nvcc's code.
  std::vector<DisagreedKernel> Disagreed; ///< Kernels that keep nvcc's code for this reason.
  std::vector<std::string> Waiting;       ///< Kernels that too few nodes have timed.
  std::vector<UnfinishedShard> Unfinished;
  std::vector<std::string> Refused;     ///< Results that were not used, each with the reason.
  Profile Decisions;                    ///< The decisions on all kernels.
  std::map<std::string, Profile> Units; ///< The same by unit key.

  /// Whether every shard was finished by enough nodes and every result used.
  bool complete() const { return Unfinished.empty() && Refused.empty(); }
};

/// Merges \p Read, the results of \p Plan. The outcome does not depend on their order.
MergedFleet mergeFleet(const FleetPlan &Plan, const ReadResults &Read);

} // namespace carve
