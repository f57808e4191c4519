/// \file
/// What `carve points` shows: per kernel and architecture the register region and the critical
/// points of each launch shape. Made by Points/PointsPipeline.h.
#pragma once

#include "Device/CriticalPoints.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

struct ShapePoints {
  std::array<unsigned, 3> Block{1, 1, 1};
  unsigned DynamicSmemBytes = 0;
  std::vector<CriticalPoint> Points;
};

/// One kernel of one architecture.
struct KernelPoints {
  std::string Arch;
  RegisterRegion Region;
  EntryDirectives Directives;
  std::optional<std::string> Reason; ///< Why it cannot be tuned; it has no points then.
  std::vector<ShapePoints> Shapes;
};

/// Kernels in the order of the file, each with its architectures behind one another.
struct PointsReport {
  std::string NvccVersion;
  std::vector<KernelPoints> Kernels;
};

/// The report as one JSON object, keys always in the same order.
std::string printPointsJson(const PointsReport &Report);

/// The report as a person reads it: a line per kernel and a table per shape.
std::string printPointsText(const PointsReport &Report);

} // namespace carve
