/// \file
/// Which launches of this process are to be captured: the file that CARVE_PROBE_CAPTURE names
/// (Protocol/PlanRecords.h).
#pragma once

#include "Protocol/PlanRecords.h"

#include <string>
#include <vector>

namespace carve::probe {

struct CapturePlan {
  std::string Directory;
  std::vector<CaptureWish> Wishes;

  /// As Plan::read.
  bool read(const char *File);
};

} // namespace carve::probe
