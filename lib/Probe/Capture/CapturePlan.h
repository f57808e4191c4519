/// \file
/// Reads which launches of this process are captured, from the file that CARVE_PROBE_CAPTURE names
/// (Protocol/PlanRecords.h).
#pragma once

#include "Protocol/PlanRecords.h"

#include <string>
#include <vector>

namespace carve::probe {

/// The launches to capture, and the directory for the captures.
struct CapturePlan {
  std::string Directory;
  std::vector<CaptureWish> Wishes;

  /// Reads \p File as Plan::read does; returns false on the same conditions.
  bool read(const char *File);
};

} // namespace carve::probe
