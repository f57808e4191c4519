/// \file
/// What runs with a plan (Protocol/Protocol.h) leave beside the ordinary records: the variants
/// timed and compared inside the program. Part of ProbeRecord; input of InRunSelection.
#pragma once

#include "Device/LaunchShape.h"

#include <cstdint>
#include <string>
#include <vector>

namespace carve {

/// A kernel and a launch shape of it, and which of its launches in its process.
struct LaunchPlace {
  std::string Kernel; ///< Mangled.
  LaunchShape Shape;
  unsigned Launch = 0;
  auto operator<=>(const LaunchPlace &) const = default;
};

/// One launch that was replayed. Times in ns.
struct ReplayedLaunch {
  LaunchPlace Place;
  bool Deterministic = true; ///< Two runs of the default left the same bytes.
  bool Idempotent = false;   ///< So did two runs without restoring in between.
  uint64_t SavedBytes = 0, DirtyBytes = 0;
  unsigned DirtyRanges = 0;
  uint64_t SaveNs = 0, CompareNs = 0, RestoreNs = 0;
  uint64_t WholeNs = 0; ///< By the clock, all variants included.
};

enum class Verdict {
  Equal,        ///< The default's output, bit for bit.
  WithinSpread, ///< Of a kernel whose default differs from run to run: no further off than those.
  Differs,
  Stray,   ///< Wrote where the default does not.
  Refused, ///< The driver did not launch it.
};

struct VerifiedVariant {
  LaunchPlace Place;
  size_t Variant = 0;
  Verdict Result = Verdict::Equal;
  std::string Detail;
};

/// One round's time of one variant in a replay.
struct TimedSample {
  LaunchPlace Place;
  bool Confirming = false; ///< Of the rounds held out from the choice.
  unsigned Round = 0;
  size_t Variant = 0;
  double ColdNs = 0; ///< After L2 was flushed.
  double WarmNs = 0; ///< Right after a run of the same variant; 0: not taken.
};

/// One launch of the program's own that a variant was rotated into. Cycle n of a shape has every
/// variant once.
struct RotatedSample {
  std::string Kernel;
  LaunchShape Shape;
  unsigned Cycle = 0;
  size_t Variant = 0;
  double Ns = 0;
};

struct InRunRecord {
  struct Reason {
    std::string Kernel, Why;
  };
  struct Fault {
    std::string Kernel;
    size_t Variant = 0;
    std::string Why;
  };
  std::vector<ReplayedLaunch> Replays;
  std::vector<VerifiedVariant> Verified;
  std::vector<TimedSample> Timed;
  std::vector<RotatedSample> Rotated;
  std::vector<Reason> StoodBack;
  std::vector<Fault> Faults;
};

} // namespace carve
