/// \file
/// Finds which resources bound the blocks of a kernel that an SM holds, and what it takes to hold
/// one more. LimitFindings.h reports it.
#pragma once

#include "Device/Occupancy.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// The blocks of one kernel on one SM.
struct ResidentBlocks {
  unsigned Blocks = 0; ///< Blocks per SM; 0 if the block cannot be launched.
  /// Resident warps over the most that the SM holds, 0 to 1.
  double Occupancy = 0;
  /// The resources that allow no further block: `registers`, `shared memory`, `threads`, `blocks`,
  /// `barriers`.
  std::vector<std::string> BoundBy;
  /// The most registers per thread, or bytes of shared memory per block, with which one more block
  /// is resident if everything else stays as it is. Absent if that alone is not enough.
  std::optional<unsigned> RegsForNext, SmemForNext;
};

/// Returns the blocks of a kernel with the resources \p B on an SM of \p D.
ResidentBlocks residentBlocks(const DeviceModel &D, const BlockFootprint &B);

} // namespace carve
