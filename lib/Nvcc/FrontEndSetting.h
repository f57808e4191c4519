/// \file
/// Defines what may be different when cicc makes a unit's PTX again. A setting other than the
/// default names a flavour of the unit: FrontEnd makes it, the store keeps it (FlavourPtx.h), and
/// variants name it.
#pragma once

#include "Nvcc/Text/KnownLaunch.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <compare>
#include <optional>
#include <string>
#include <vector>

namespace carve {

/// What cicc may be told beside the register cap. NVIDIA does not document these options, so
/// another release may refuse one.
enum class FrontEndKnob {
  None,
  /// The LLVM that cicc has for Blackwell (`compute_100`) and later. Its PTX gets the target of the
  /// unit again, which works as long as no instruction of the later architecture is in it.
  NewerLlvm,
  NewerLlvmRolled,     ///< That LLVM, which unrolls no loop in part.
  UnrollMore,          ///< Larger thresholds, up to which loops are unrolled in full or in part.
  UnrollByTwo,         ///< Every loop that can be is unrolled twice.
  NoRematerialization, ///< Values are kept in registers instead of being computed again.
  /// Nothing is told to cicc, but its text: the head of a kernel's body says what is known of the
  /// kernel's launches (KernelAssumptions.h). Only a further entry with a guard may have such code.
  KnownLaunch,
  /// Several such entries, each for what is known of the launches with one shape. cicc makes one
  /// PTX for each of them with KnownLaunch, and profiles have them as entries with KnownLaunch.
  KnownShapes,
};

/// Whether code with \p Knob may run only at launches of which something is known.
constexpr bool isForKnownLaunches(FrontEndKnob Knob) {
  return Knob == FrontEndKnob::KnownLaunch || Knob == FrontEndKnob::KnownShapes;
}

/// The knobs other than None, in the order in which they are tried.
llvm::ArrayRef<FrontEndKnob> frontEndKnobs();

/// Returns the name of \p Knob in variants, profiles and keys: `newllvm`, `newrolled`, `unroll`,
/// `unroll2`, `noremat`, `known`, `shapes`, or an empty text for None.
llvm::StringRef nameOf(FrontEndKnob Knob);

/// Returns the knob other than None that is named \p Name, or nothing.
std::optional<FrontEndKnob> frontEndKnobNamed(llvm::StringRef Name);

/// The names of all knobs, for messages: `newllvm, newrolled, unroll, unroll2, noremat, known or
/// shapes`.
extern const llvm::StringLiteral FrontEndKnobNames;

/// The name of FrontEndSetting::Restrict in variants, profiles and keys.
inline constexpr llvm::StringLiteral RestrictName = "restrict";

/// Returns the arguments by which cicc is told \p Knob.
llvm::ArrayRef<llvm::StringLiteral> ciccArguments(FrontEndKnob Knob);

/// Whether \p Knob makes cicc use its newer LLVM.
bool usesNewerLlvm(FrontEndKnob Knob);

/// Whether \p Knob can change what cicc makes with \p Arguments, those of the unit's compile. The
/// newer LLVM is already used for later architectures, and link-time code keeps none.
bool appliesTo(FrontEndKnob Knob, llvm::ArrayRef<std::string> Arguments);

/// Returns \p Arguments with \p Knob in them.
std::vector<std::string> argumentsWith(FrontEndKnob Knob, llvm::ArrayRef<std::string> Arguments);

/// Whether cicc with \p Arguments does not take the parameters of kernels for restrict pointers
/// already, as it does after `nvcc -restrict`.
bool mayBeRestrict(llvm::ArrayRef<std::string> Arguments);

/// One way to make the PTX of a unit.
struct FrontEndSetting {
  /// `-maxreg`, in 1..255. If it is absent, the command decides.
  std::optional<unsigned> Cap = {};
  FrontEndKnob Knob = FrontEndKnob::None;
  /// The kernel's text has `__restrict__` at those of its pointers that may be so. Only a further
  /// entry whose guard knows that they lead to different allocations may have such code.
  bool Restrict = false;
  /// With FrontEndKnob::KnownLaunch or Restrict, for which kernel the PTX is made, and what it may
  /// rely on.
  std::optional<KnownKernel> Known = {};

  /// Whether cicc gets another text of one kernel.
  bool changesText() const { return Knob == FrontEndKnob::KnownLaunch || Restrict; }
  /// The same for \p Kernel: with what is known of its launches if the knob asks for that, and with
  /// its restrict pointers if these are set. Which pointers are apart is no part of it, as the text
  /// does not say it.
  FrontEndSetting forKernel(KnownKernel Kernel) const;
  bool isDefault() const { return *this == FrontEndSetting(); }
  auto operator<=>(const FrontEndSetting &) const = default;
};

/// Returns what \p Setting sets, such as `f255`, `noremat` or `f255-noremat-restrict`; an empty
/// text for the default.
std::string nameOf(const FrontEndSetting &Setting);

} // namespace carve
