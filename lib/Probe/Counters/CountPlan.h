/// \file
/// Reads which metrics of which launches are counted in this process, from the file that
/// CARVE_PROBE_METRICS names (Protocol/PlanRecords.h).
#pragma once

#include "Protocol/PlanRecords.h"

#include <cstddef>
#include <string>
#include <vector>

namespace carve::probe {

/// The metrics, the pass and the launches of a process.
struct CountPlan {
  /// The most important metric comes first, and is part of every pass.
  std::vector<std::string> Metrics;
  size_t Pass = 0;
  std::vector<CountWish> Wishes;

  /// Reads \p File as Plan::read does; returns false on the same conditions.
  bool read(const char *File);
};

} // namespace carve::probe
