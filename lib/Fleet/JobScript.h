/// \file
/// The script of a plan for Slurm's sbatch: a job array with one task for each shard. Slurm alone
/// schedules; a task only runs `carve fleet run`. The script is made of a template, which a site
/// can replace (share/carve-nvcc/slurm/job.sh.in).
#pragma once

#include "Fleet/FleetPlan.h"

namespace carve {

/// Returns the template \p Template with its places filled for \p Plan in the absolute \p Folder,
/// with \p Carve as the path of carve:
///
///   @ARRAY@   the array's indices, `0-199`
///   @NODES@   the nodes of one task
///   @FOLDER@  the plan's folder
///   @RUN@     the command that tunes the task's shard
///
/// A task gets as many nodes as must agree and tunes its shard once on each, so that Slurm itself
/// sees to it that the nodes are different ones. If the program starts itself on several nodes, the
/// array has a task for each shard and each node that must agree instead. Fails, naming \p Name, if
/// the template has another word between two `@`, and if the folder has characters that Slurm or
/// the shell would change.
llvm::Expected<std::string> jobScript(llvm::StringRef Template, llvm::StringRef Name,
                                      const FleetPlan &Plan, llvm::StringRef Folder,
                                      llvm::StringRef Carve);

} // namespace carve
