/// \file
/// Which metrics of which launches are to be counted in this process: the file that
/// CARVE_PROBE_METRICS names (Protocol/PlanRecords.h).
#pragma once

#include "Protocol/PlanRecords.h"

#include <cstddef>
#include <string>
#include <vector>

namespace carve::probe {

struct CountPlan {
  std::vector<std::string> Metrics; ///< Most important first; the first is part of every pass.
  size_t Pass = 0;
  std::vector<CountWish> Wishes;

  /// As Plan::read.
  bool read(const char *File);
};

} // namespace carve::probe
