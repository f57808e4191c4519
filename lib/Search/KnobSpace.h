/// \file
/// What the knobs of one kernel may be set to, and the settings that follow from it: the space that
/// Search/KernelSearch.h searches.
#pragma once

#include "Search/Variant.h"

#include <vector>

namespace carve {

/// What the knobs of a kernel may be set to. The default is not named.
struct KnobSpace {
  std::vector<unsigned> Caps; ///< Register caps: the critical points, ascending.
  unsigned DefaultRegs = 0;
  unsigned MinRegs = 24;                     ///< What the kernel uses when pressed hardest.
  unsigned MaxRegs = 255;                    ///< What the kernel uses without any cap.
  bool FrontEndCaps = false;                 ///< Flavours of other front-end caps can be made.
  bool SmemSpilling = false;                 ///< It is allowed.
  bool LoadCaching = false;                  ///< There are loads that it would change.
  std::vector<unsigned> RegisterUsageLevels; ///< Of the unit, other than the default; may be empty.
  /// Share of the device's memory bandwidth that the default is known to take; absent: not known.
  std::optional<double> BandwidthShare;
  /// Where not empty, nothing else can be had: the rows of a table of measurements.
  std::vector<VariantSetting> Only;
};

/// The cap of a front end that is told to take all registers: not the same as no cap.
constexpr unsigned FreeFrontEndCap = 255;

/// The settings of \p Space that \p Effort allows (SearchLimits) without knowing the best, each
/// once, the default left out. Front-end caps are free, or the register cap itself where that is a
/// critical point. Load caching and spilling to shared memory stand alone, register-usage levels
/// also with caps of both kinds.
std::vector<VariantSetting> settingsOf(const KnobSpace &Space, unsigned Effort);

/// What one knob set otherwise makes of \p V, as far as \p Effort allows: the front end free, with
/// the same cap, or as compiled; spilling to shared memory, load caching, each register-usage
/// level; the nearest caps on both sides, critical points and others. A front-end cap that is the
/// register cap goes with it. The default left out.
std::vector<VariantSetting> neighboursOf(const KnobSpace &Space, unsigned Effort,
                                         const VariantSetting &V);

} // namespace carve
