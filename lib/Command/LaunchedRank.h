/// \file
/// Finds out whether a launcher of parallel programs (mpirun, srun, torchrun) has started this
/// process as one of several ranks. Then rank 0 decides for all, and the others write nothing.
#pragma once

#include "Nvcc/Toolchain.h"

#include <optional>
#include <string>

namespace carve {

/// One rank of several.
struct LaunchedRank {
  unsigned Rank = 0;
  std::optional<unsigned> Size; ///< Absent if the launcher does not tell.
  std::string Variable;         ///< The variable that told the rank, e.g. `SLURM_PROCID`.
  /// Text that all ranks of one launch have in common, and other launches do not; empty if the
  /// launcher gives none.
  std::string Launch;
};

/// Returns the rank of this process by the variables of its launcher. Returns nothing if no
/// launcher has started it, or if it started this process alone.
std::optional<LaunchedRank> launchedRank(GetEnv Env);

/// Returns e.g. `rank 2 of 4 (SLURM_PROCID)`.
std::string rankText(const LaunchedRank &R);

} // namespace carve
