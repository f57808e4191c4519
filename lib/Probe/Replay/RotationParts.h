/// \file
/// Divides a program's launches among the kernels that are rotated, so that their variants do not
/// take turns at the same time. It is pure: it knows no driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace carve::probe {

/// Returns how many launches twelve cycles of \p Variants take in which each runs twice in a row.
constexpr uint64_t launchesForCycles(size_t Variants) { return 12 * (2 * uint64_t(Variants) + 1); }

/// A part of each quarter of a kernel's launches: launches that come late in a program may have
/// less to do, or more.
struct LaunchPart {
  double Begin = 0, End = 1; ///< Within a quarter.
  /// Returns whether launch number \p Index of \p Launches is in it. There may be more of them.
  bool holds(uint64_t Index, uint64_t Launches) const;
  /// Returns how many of \p Launches are in it from number \p Index on, but for a few.
  uint64_t left(uint64_t Index, uint64_t Launches) const;
};

/// A kernel that is rotated.
struct RotatedKernel {
  uint64_t Launches = 0; ///< Those of the shape with most of its time.
  size_t Variants = 0;   ///< At most so many take part.
};

/// Returns the part of its launches in which each kernel is rotated. What one kernel's variants
/// leave in L2 and in the caches for instructions changes how long the next kernel takes, and in
/// the tuned program no kernel changes. So each gets a part of its own, in which the others run the
/// default. It is enough for launchesForCycles(), and what all these leave is divided equally. If
/// there are too few launches, the kernels that need the longest parts are rotated all the time.
std::vector<LaunchPart> rotationParts(const std::vector<RotatedKernel> &Kernels);

} // namespace carve::probe
