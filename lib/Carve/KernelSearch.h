/// \file
/// The search of one kernel's variants under a budget: which settings are worth compiling, which of
/// the compiled ones are carved away, which are timed, and what is tried around the best of them.
/// It knows neither compilers nor GPUs: tuning feeds it, and so does a table of measurements.
#pragma once

#include "Carve/Metrics.h"
#include "Carve/Variant.h"

#include <map>
#include <string>
#include <vector>

namespace carve {

/// What the knobs of a kernel may be set to. The default is not named.
struct KnobSpace {
  std::vector<unsigned> Caps; ///< Register caps: the critical points, ascending.
  unsigned DefaultRegs = 0;
  unsigned MaxRegs = 255;                    ///< What the kernel uses without any cap.
  bool FrontEndCaps = false;                 ///< Flavours of other front-end caps can be made.
  bool SmemSpilling = false;                 ///< It is allowed.
  bool LoadCaching = false;                  ///< There are loads that it would change.
  std::vector<unsigned> RegisterUsageLevels; ///< Of the unit, other than the default; may be empty.
  /// Share of the device's memory bandwidth that the default is known to take; absent: not known.
  std::optional<double> BandwidthShare;
};

/// A setting that was compiled. The default is the first that a search is given.
struct Candidate {
  VariantSetting Setting;
  StaticMetrics Metrics;  ///< In the launch shape that takes most of the time.
  std::string CodeDigest; ///< Equal digests are one variant; empty: not known.
};

/// A setting that is not timed, and why, for `carve explain`.
struct CarvedVariant {
  VariantSetting Setting;
  std::string Reason;
};

struct SearchLimits {
  /// 0: critical points alone; 1: and front-end caps; 2: and knobs around the best; 3: and
  /// register-usage levels, with twice the budget.
  unsigned Effort = 2;
  unsigned MaxTimed = 12; ///< Variants of a kernel that are timed, the default not counted.
};

/// Calls go round: propose() - compile - carve() - time - learn(), until propose() gives nothing.
class KernelSearch {
public:
  KernelSearch(KnobSpace Space, SearchLimits Limits);

  /// Settings to compile now, the most promising first; none: the search is over.
  std::vector<VariantSetting> propose();
  /// Takes what came of them (the default, too, the first time), settings that failed or are
  /// forbidden left out. Returns those to be timed now.
  std::vector<VariantSetting> carve(std::vector<Candidate> Made);
  /// Takes times over the default's. Without it the next round rests on the model alone.
  void learn(const std::map<VariantSetting, double> &Ratios);

  unsigned timed() const { return Timed; }
  const std::vector<CarvedVariant> &carved() const { return Carved; }

private:
  KnobSpace Space;
  SearchLimits Limits;
  unsigned Timed = 0;
  std::vector<CarvedVariant> Carved;
};

} // namespace carve
