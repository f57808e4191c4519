/// \file
/// Decides on one kernel by what several nodes found out about it. Equal GPUs differ by some
/// percent, so a variant is only compared with another that the same node timed, and it is accepted
/// only if enough nodes find it faster than nvcc's code.
#pragma once

#include "Store/Profile.h"
#include "Tune/Outcome/TuningReport.h"

#include <optional>

namespace carve {

/// What one node decided on a kernel, and what it timed.
struct NodeFinding {
  std::string Node;
  const Decision *Decided = nullptr;    ///< Never null.
  const KernelReport *Report = nullptr; ///< Null if the node's report has no such kernel.
};

/// The outcome for one kernel.
struct Agreement {
  /// The decision, with the evidence of a node that made it. Absent if too few nodes have timed the
  /// kernel.
  std::optional<Decision> Decided;
  std::vector<std::string> Nodes; ///< The nodes that support it, sorted.
  /// If some node has a winner and nvcc's code stays, what each node would use.
  std::string Disagreement;
};

/// Decides on the kernel of \p Findings, of which each is from another node.
///
/// A node supports a variant if it is the node's own confirmed winner, or if the node timed it and
/// the upper end of the interval is below 1. A decision with further entries is supported only by
/// nodes that made the same, because a report does not tell the guards of variants that lost. Of
/// the variants that at least \p Agree nodes support, the one with the best geometric mean over its
/// nodes is decided. If no variant has that support, but \p Agree nodes have timed the kernel,
/// nvcc's code stays. The order of \p Findings does not matter.
Agreement agreeOn(std::vector<NodeFinding> Findings, unsigned Agree);

} // namespace carve
