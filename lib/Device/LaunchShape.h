/// \file
/// Describes how a kernel was launched: grid, block, dynamic shared memory, cluster. The probe
/// records it, and tunings and occupancy use it.
#pragma once

#include <array>
#include <compare>
#include <string>

namespace carve {

/// One way to launch a kernel. Grid and cluster are in blocks, and the block is in threads.
struct LaunchShape {
  std::array<unsigned, 3> Grid{1, 1, 1};
  std::array<unsigned, 3> Block{1, 1, 1};
  unsigned DynamicSmemBytes = 0;
  std::array<unsigned, 3> Cluster{1, 1, 1};
  bool Cooperative = false;

  unsigned threadsPerBlock() const { return Block[0] * Block[1] * Block[2]; }
  bool hasCluster() const { return Cluster[0] * Cluster[1] * Cluster[2] > 1; }
  auto operator<=>(const LaunchShape &) const = default;
};

/// Returns three extents with \p Between between them, such as `256x1x1`.
inline std::string extentsText(const std::array<unsigned, 3> &Extents, const char *Between) {
  return std::to_string(Extents[0]) + Between + std::to_string(Extents[1]) + Between +
         std::to_string(Extents[2]);
}

/// Returns the fields <grid> <block> <dynamic smem> <cluster>, separated by tabs, as the probe
/// writes and reads them.
inline std::string shapeFields(const LaunchShape &Shape) {
  return extentsText(Shape.Grid, ",") + "\t" + extentsText(Shape.Block, ",") + "\t" +
         std::to_string(Shape.DynamicSmemBytes) + "\t" + extentsText(Shape.Cluster, ",");
}

} // namespace carve
