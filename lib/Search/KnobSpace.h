/// \file
/// Lists what the knobs of one kernel may be set to, and derives from it the settings that
/// Search/KernelSearch.h proposes.
#pragma once

#include "Search/Variant.h"

#include <vector>

namespace carve {

/// The values that the knobs of one kernel may have. The default value of each knob is always
/// possible and not listed.
struct KnobSpace {
  std::vector<unsigned> Caps; ///< Register caps: the critical points, ascending.
  unsigned DefaultRegs = 0;   ///< Registers per thread that the default uses.
  unsigned MinRegs = 24;      ///< Registers per thread if the compiler is pressed hardest.
  unsigned MaxRegs = 255;     ///< Registers per thread without any cap.
  bool FrontEndCaps = false;  ///< The unit's PTX can be made with other front-end caps.
  /// What else cicc may be told when it makes that PTX.
  std::vector<FrontEndKnob> FrontEndKnobs;
  bool Restrict = false;     ///< The kernel's pointers may be restrict ones.
  bool KnownPtx = false;     ///< Something is known of the launches that the PTX can say.
  bool SmemSpilling = false; ///< Spilling to shared memory is possible.
  /// With this many registers or more the PTX as compiled spills nothing, so there is nothing to
  /// spill to shared memory. By default it is more than any kernel has.
  unsigned SpillsBelow = 256;
  /// The values of load caching, other than the default, that would change loads of the kernel.
  std::vector<LoadCaching> LoadCachings;
  /// Levels other than the default; may be empty.
  std::vector<unsigned> RegisterUsageLevels;
  bool LessOptimized = false; ///< ptxas may assemble the kernel at optimization level 1.
  /// The share of the device's memory bandwidth that the default takes, 0 to 1, if it is known.
  std::optional<double> BandwidthShare;
  /// If not empty, only these settings exist: the rows of a table of measurements.
  std::vector<VariantSetting> Only;

  /// Whether something may be spilled to shared memory beside \p V. SpillsBelow says nothing of PTX
  /// that the front end made in another way.
  bool maySpillBeside(const VariantSetting &V) const {
    return SmemSpilling && (!V.frontEnd().isDefault() || V.Cap.value_or(DefaultRegs) < SpillsBelow);
  }
  /// Whether each knob of \p V may have its value, and the values may be set beside each other.
  /// The register cap need not be one that settingsOf() returns.
  bool allows(const VariantSetting &V) const;
};

/// The front-end cap that lets cicc use all registers. It makes other code than no cap.
constexpr unsigned FreeFrontEndCap = 255;

/// Returns the settings of \p Space that \p Effort (TuningOptions) allows before the best variant
/// is known. Each occurs once, and the default is left out. A front-end cap is either
/// FreeFrontEndCap or equal to the register cap, the latter only at critical points. Spilling to
/// shared memory is combined with register caps at which something is spilled. Front-end knobs,
/// restrict pointers, constants in the PTX, load caching and the settings of the assembler are not
/// combined with other knobs. Only effort 3 combines register-usage levels with both kinds of caps.
std::vector<VariantSetting> settingsOf(const KnobSpace &Space, unsigned Effort);

/// Returns the settings that differ from \p V in one knob, as far as \p Effort allows. The
/// front-end cap can be free, equal to the register cap, or as compiled. Spilling to shared memory
/// is switched if something is spilled, restrict pointers and constants in the PTX if something is
/// known, and the optimization level. The front-end knob, load caching and the register-usage level
/// get each of their values. The register cap takes the nearest critical points and the nearest
/// other caps on both sides; a front-end cap that equals the register cap changes with it. The
/// optimization level, and below effort 3 the register-usage level, are combined with register caps
/// alone. The default is left out.
std::vector<VariantSetting> neighboursOf(const KnobSpace &Space, unsigned Effort,
                                         const VariantSetting &V);

} // namespace carve
