/// \file
/// Which metrics of which launches are to be counted in this process: the file that
/// CARVE_PROBE_METRICS names (Protocol.h).
#pragma once

#include "Probe/Driver/Plan.h"

#include <cstdint>
#include <string>
#include <vector>

namespace carve::probe {

struct CountPlan {
  struct Wish {
    std::string Kernel;
    LaunchShape Shape;
    uint64_t First = 0; ///< The first launch to be counted.
    uint64_t Launches = 0;
  };
  std::vector<std::string> Metrics; ///< Most important first; the first is part of every pass.
  size_t Pass = 0;
  std::vector<Wish> Wishes;

  /// As Plan::read.
  bool read(const char *File);
};

} // namespace carve::probe
