/// \file
/// The critical points of a kernel: for every number of blocks per SM that some register count of
/// its region gives, the largest such count.
#pragma once

#include "Device/Occupancy.h"
#include "Device/RegisterRegion.h"
#include "Protocol/LaunchShape.h"

#include <vector>

namespace carve {

struct CriticalPoint {
  unsigned Regs = 0; ///< The cap to give.
  unsigned BlocksPerSm = 0;
  unsigned WarpsPerSm = 0;
  double Occupancy = 0; ///< Resident warps over the most that the SM holds, 0 to 1.
};

/// Critical points of one launch shape, ascending in registers. Counts at which the block cannot
/// be launched are no points. Static shared memory and barriers are the default compilation's.
std::vector<CriticalPoint> criticalPoints(const DeviceModel &D, const RegisterRegion &R,
                                          const LaunchShape &Shape);

/// Whether caps may shrink the largest block that a kernel accepts.
enum class LaunchDomain {
  Preserve, ///< Every launch that the default accepts stays possible.
  Traced,   ///< The largest block seen stays possible.
};

/// The largest register count at which every launch that \p Domain protects is still accepted:
/// those of up to the default's largest block (directives and registers considered), or of up to
/// \p LargestTracedBlock threads. At least the default's own registers.
unsigned launchableRegisterLimit(const DeviceModel &D, const RegisterRegion &R,
                                 const EntryDirectives &Directives, LaunchDomain Domain,
                                 unsigned LargestTracedBlock);

} // namespace carve
