/// \file
/// Which launches of this process are to be captured: the file that CARVE_PROBE_CAPTURE names
/// (CaptureProtocol.h).
#pragma once

#include "Probe/Driver/Plan.h"

#include <cstdint>
#include <string>
#include <vector>

namespace carve::probe {

struct CapturePlan {
  struct Wish {
    std::string Kernel;
    LaunchShape Shape;
    uint64_t Launch = 0;
  };
  std::string Directory;
  std::vector<Wish> Wishes;

  /// As Plan::read.
  bool read(const char *File);
};

} // namespace carve::probe
