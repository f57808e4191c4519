/// \file
/// Finds the critical points of a kernel: for every number of blocks per SM that some register
/// count of its region allows, the largest such count. A tuning with the least effort tries these
/// register caps.
#pragma once

#include "Device/Occupancy.h"
#include "Device/RegisterRegion.h"
#include "Protocol/LaunchShape.h"

#include <vector>

namespace carve {

/// One critical point of a kernel.
struct CriticalPoint {
  unsigned Regs = 0; ///< The register cap to compile with.
  unsigned BlocksPerSm = 0;
  unsigned WarpsPerSm = 0;
  double Occupancy = 0; ///< Resident warps divided by the most that the SM holds, 0 to 1.
};

/// Returns the critical points of \p Shape, ascending in registers. Register counts with which the
/// block cannot be launched are left out. Static shared memory and barriers are taken from the
/// default.
std::vector<CriticalPoint> criticalPoints(const DeviceModel &D, const RegisterRegion &R,
                                          const LaunchShape &Shape);

/// Tells whether caps may shrink the largest block that a kernel accepts.
enum class LaunchDomain {
  Preserve, ///< Every launch that the default accepts stays possible.
  Traced,   ///< The largest block seen stays possible.
};
/// `preserve` or `traced`, as options and files write it.
inline llvm::StringRef nameOf(LaunchDomain Domain) {
  return Domain == LaunchDomain::Traced ? "traced" : "preserve";
}

/// Returns the largest register count with which every launch that \p Domain protects is still
/// accepted. Preserve protects blocks up to the largest one that the default accepts by its
/// directives and its registers. Traced protects blocks of up to \p LargestTracedBlock threads. The
/// result is at least the default's own register count.
unsigned launchableRegisterLimit(const DeviceModel &D, const RegisterRegion &R,
                                 const EntryDirectives &Directives, LaunchDomain Domain,
                                 unsigned LargestTracedBlock);

} // namespace carve
