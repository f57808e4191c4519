/// \file
/// Holds what `carve points` shows: for each kernel and architecture, the register region and the
/// critical points of each launch shape. PointsPipeline fills it in.
#pragma once

#include "Device/CriticalPoints.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// The critical points of one launch shape.
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
  /// Why it cannot be tuned; it has no points then.
  std::optional<std::string> Reason;
  std::vector<ShapePoints> Shapes;
};

/// The kernels are in the order of the file, and the architectures of each one follow each other.
struct PointsReport {
  std::string NvccVersion;
  std::vector<KernelPoints> Kernels;
};

/// Returns the report as one JSON object, with the keys always in the same order.
std::string printPointsJson(const PointsReport &Report);

/// Returns the report as text for a person: a line for each kernel and a table for each shape.
std::string printPointsText(const PointsReport &Report);

} // namespace carve
