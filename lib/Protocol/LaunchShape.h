/// \file
/// How a kernel is launched: grid, block, dynamic shared memory, cluster, and where launches with
/// the same of these differ in their work, the class of their arguments or of their order. The
/// tools and the probe both tell the launches of one kernel apart by it.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>

namespace carve {

/// The shape of a launch.
struct LaunchShape {
  std::array<uint32_t, 3> Grid{1, 1, 1};
  std::array<uint32_t, 3> Block{1, 1, 1};
  uint32_t DynamicSmemBytes = 0;
  std::array<uint32_t, 3> Cluster{1, 1, 1};
  /// The class of the launch among those with the same grid, block, memory and cluster, from 1.
  /// Only the plan divides launches into classes (PlannedClass, PlannedSegment). 0 means that they
  /// are not divided.
  uint32_t Class = 0;

  /// Returns the shape of all classes together.
  LaunchShape undivided() const {
    LaunchShape All = *this;
    All.Class = 0;
    return All;
  }
  uint32_t threadsPerBlock() const { return Block[0] * Block[1] * Block[2]; }
  bool hasCluster() const { return Cluster[0] * Cluster[1] * Cluster[2] > 1; }
  auto operator<=>(const LaunchShape &) const = default;
};

/// Returns three extents with \p Between between them: `256x1x1`.
inline std::string extentsText(const std::array<uint32_t, 3> &Extents, const char *Between) {
  return std::to_string(Extents[0]) + Between + std::to_string(Extents[1]) + Between +
         std::to_string(Extents[2]);
}

} // namespace carve
