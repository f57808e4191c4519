/// \file
/// The plan of a tuning that many nodes share: which shard tunes which kernels or captures, and
/// how. `carve fleet plan` writes it once into a folder that all nodes see; `carve fleet run` and
/// `carve fleet merge` read it there. Beside it lie the units that the nodes need, the job script
/// (JobScript.h), and one folder for the results of each shard (ShardResult.h).
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <utility>
#include <vector>

namespace carve {

/// What one shard tunes, in one tuning on one GPU: captured launches, or the kernels of the plan's
/// command that have these mangled names.
struct PlannedShard {
  std::vector<std::string> Captures; ///< Absolute paths.
  std::vector<std::string> Kernels;
};

/// The plan.
struct FleetPlan {
  std::string Date;                 ///< ISO 8601, UTC.
  std::string Directory;            ///< The working directory of the plan and of all its tunings.
  std::vector<std::string> Options; ///< The tuning's options, as `--name=value`.
  std::vector<std::string> Command; ///< The program; empty if captures are tuned.
  std::string StdinPath;            ///< Standard input of the program; empty for none.
  /// How many nodes must find a variant faster before it is accepted.
  unsigned Agree = 2;
  /// The nodes on which one run of the program starts processes by a launcher of its own, such as
  /// srun; 0 if it runs on the node where it is started.
  unsigned ProgramNodes = 0;
  std::string Toolkit; ///< nvcc's version, `13.0.88`; empty if it was not known.
  std::string Device;  ///< The GPU of all captures; empty if it was not known.
  std::vector<PlannedShard> Shards;
  std::string Digest; ///< Of the plan's text. It is not written, but set by readPlan().
};

/// Returns the plan as JSON; share/doc/formats.md describes it.
std::string printPlan(const FleetPlan &Plan);
/// Reads the plan in \p Folder. Fails if the folder has no plan, and if a member of the plan is
/// wrong; the message names it.
llvm::Expected<FleetPlan> readPlan(llvm::StringRef Folder);

/// The paths of a plan's files in \p Folder.
std::string planPath(llvm::StringRef Folder);
std::string plannedUnitsPath(llvm::StringRef Folder);
std::string shardFolder(llvm::StringRef Folder, size_t Shard);

/// Returns the absolute folder of the plan and the number of the shard of the path \p Shard, such
/// as `DIR/shard-7`. Fails with UsageError if it is no such path.
llvm::Expected<std::pair<std::string, size_t>> shardOfPath(llvm::StringRef Shard);

/// Deals \p Kernels out, in the order of their names, to at most \p Shards shards, so that no shard
/// has two kernels more than another.
std::vector<PlannedShard> dealKernels(std::vector<std::string> Kernels, unsigned Shards);
/// Deals captures out in the same way. \p Captures has the kernel and the absolute path of each.
/// All captures of a kernel go to one shard, because one decision must hold for all of them.
std::vector<PlannedShard> dealCaptures(std::vector<std::pair<std::string, std::string>> Captures,
                                       unsigned Shards);

} // namespace carve
