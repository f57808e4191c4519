/// \file
/// What bounds the blocks that an SM holds of a kernel, and what it takes to hold one more.
#pragma once

#include "Device/Occupancy.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

struct ResidentBlocks {
  unsigned Blocks = 0; ///< Per SM; 0: the block cannot be launched.
  double Occupancy = 0;
  /// Those that allow no block more: `registers`, `shared memory`, `threads`, `blocks`, `barriers`.
  std::vector<std::string> BoundBy;
  /// The most registers per thread, or shared memory of a block, with which one more is resident,
  /// all else as it is; absent where that alone does not do.
  std::optional<unsigned> RegsForNext, SmemForNext;
};

/// Of \p B on \p D.
ResidentBlocks residentBlocks(const DeviceModel &D, const BlockFootprint &B);

} // namespace carve
