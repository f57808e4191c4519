/// \file
/// The additional records of runs with a plan (Protocol/TimingRecords.h): the variants that were
/// timed and compared inside the program. It is part of ProbeRecord and the input of
/// InRunSelection.
#pragma once

#include "Protocol/TimingRecords.h"

#include <vector>

namespace carve {

/// The records of one timing run, by kind.
struct InRunRecord {
  std::vector<ReplayedLaunch> Replays;
  std::vector<VerifiedVariant> Verified;
  std::vector<TimedSample> Timed;
  std::vector<RotatedSample> Rotated;
  std::vector<StoodBackKernel> StoodBack;
  std::vector<VariantFault> Faults;
};

} // namespace carve
