/// \file
/// What runs with a plan (Protocol/TimingRecords.h) leave beside the ordinary records: the variants
/// timed and compared inside the program. Part of ProbeRecord; input of InRunSelection.
#pragma once

#include "Protocol/TimingRecords.h"

#include <vector>

namespace carve {

struct InRunRecord {
  std::vector<ReplayedLaunch> Replays;
  std::vector<VerifiedVariant> Verified;
  std::vector<TimedSample> Timed;
  std::vector<RotatedSample> Rotated;
  std::vector<StoodBackKernel> StoodBack;
  std::vector<VariantFault> Faults;
};

} // namespace carve
