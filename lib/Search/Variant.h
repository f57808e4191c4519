/// \file
/// Defines the setting of a variant, which has a value for each knob, that is, for each thing that
/// a variant may change; and the name of a variant. The search, tuning, emission and the profiles
/// all name variants by it.
#pragma once

#include "Nvcc/FrontEndSetting.h"
#include "Ptx/LoadCaching.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <compare>
#include <optional>
#include <string>

namespace carve {

/// What ptxas is told for one kernel, in place of what it is told for the rest of the image. ptxas
/// takes these settings for a whole run; the kernel is assembled by a run of its own, and its code
/// put into the image (Cubin/ReplaceKernels.h).
struct AssemblerSetting {
  /// `--opt-level`. Only 1 is tried: 0 is for debuggers, and 2 and 4 make the code of 3, which is
  /// ptxas' own choice.
  std::optional<unsigned> OptimizationLevel = {};
  std::optional<unsigned> RegisterUsageLevel = {}; ///< `--register-usage-level`, 0 to 10.

  bool isDefault() const { return *this == AssemblerSetting(); }
  auto operator<=>(const AssemblerSetting &) const = default;
};

/// One value for each knob. If every field has its default, the setting is nvcc's own code.
struct VariantSetting {
  std::optional<unsigned> Cap = {}; ///< The register cap, `.maxnreg` of the entry.
  /// The `-maxreg` that cicc is given when it makes the kernel's PTX. If it is absent, the command
  /// decides.
  std::optional<unsigned> FrontEndCap = {};
  /// What cicc is told beside it, when it makes the kernel's PTX.
  FrontEndKnob FrontEnd = FrontEndKnob::None;
  bool SmemSpilling = false; ///< The entry gets `.pragma "enable_smem_spilling"`.
  LoadCaching Loads = LoadCaching::AsCompiled;
  /// The `--register-usage-level` of ptxas. If it is absent, the command decides.
  std::optional<unsigned> RegisterUsageLevel = {};
  /// The `--opt-level` of ptxas, likewise.
  std::optional<unsigned> OptimizationLevel = {};
  /// What is known of the kernel's launches is put into its PTX (Ptx/LaunchConstants.h). Only a
  /// further entry with a guard may have such code.
  bool KnownPtx = false;
  /// Pointers of the kernel are `__restrict__` (FrontEndSetting). Only a further entry with a guard
  /// may have such code.
  bool Restrict = false;

  bool isDefault() const { return *this == VariantSetting(); }
  /// The setting of cicc, which names the flavour of the unit that has the kernel's PTX.
  FrontEndSetting frontEnd() const { return {FrontEndCap, FrontEnd, Restrict, {}}; }
  AssemblerSetting assembler() const { return {OptimizationLevel, RegisterUsageLevel}; }
  /// Whether the variant may run only at launches of which something is known.
  bool isForKnownLaunches() const {
    return carve::isForKnownLaunches(FrontEnd) || Restrict || KnownPtx;
  }
  /// Whether the variant may be used only if its output was compared with the default's. A
  /// front-end knob or a constant moves operations to other places. There, a multiplication and an
  /// addition may become one instruction that were two before, which rounds once instead of twice.
  /// At another level of optimization, ptxas may leave such a pair apart.
  bool needsComparedOutput() const {
    return FrontEnd != FrontEndKnob::None || Restrict || KnownPtx || OptimizationLevel.has_value();
  }
  /// Whether a variant with this setting may be used in place of one with \p Other that has the
  /// same code. One that may run only at launches of which something is known would keep the code
  /// from the other launches, and one with restrict pointers would ask where they lead.
  bool mayStandFor(const VariantSetting &Other) const {
    return (Other.isForKnownLaunches() || !isForKnownLaunches()) && (Other.Restrict || !Restrict);
  }
  void setFrontEnd(const FrontEndSetting &Setting) {
    FrontEndCap = Setting.Cap;
    FrontEnd = Setting.Knob;
    Restrict = Setting.Restrict;
  }
  auto operator<=>(const VariantSetting &) const = default;
};

/// Returns the name of \p Caching in variants and profiles: `cg`, `cs`, `noalloc`, or an empty text
/// for AsCompiled.
llvm::StringRef nameOf(LoadCaching Caching);

/// Returns the value with the name \p Name, or nothing if none of those that change loads has it.
std::optional<LoadCaching> loadCachingNamed(llvm::StringRef Name);

/// Returns `default` if nothing is set, else the parts that are set, such as `r40`, `f255` or
/// `r40-f40-unroll-restrict-knownptx-smem-cg-l10-o1`. The parts are register cap, front-end cap,
/// front-end knob, restrict pointers, constants in the PTX, spilling to shared memory, load
/// caching, register-usage level, and optimization level of ptxas, in this order.
std::string variantName(const VariantSetting &V);

/// Returns the setting whose variantName() is \p Name. Fails if \p Name is not such a name; the
/// error gives it and the expected form.
llvm::Expected<VariantSetting> parseVariantName(llvm::StringRef Name);

} // namespace carve
