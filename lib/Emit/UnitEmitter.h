/// \file
/// Applies decisions to a unit: has ImageEmitter make its images again, and has fatbinary rebuild
/// the container. The caller splices the container into the object that nvcc made
/// (ObjectSplicer.h).
#pragma once

#include "Device/CriticalPoints.h"
#include "Emit/EntryDispatch.h"
#include "Nvcc/BuildPlan.h"
#include "Nvcc/FrontEndSetting.h"
#include "Nvcc/Toolchain.h"
#include "Store/Profile.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace carve {

/// What was done with one kernel for which a profile has a decision.
struct EmittedKernel {
  std::string Kernel, Arch;
  VariantSetting Variant; ///< The variant that was emitted.
  std::string Reason;     ///< Why the default stays; empty if a variant was emitted.
  /// If it concerns a further entry of the kernel, its guard.
  std::optional<EntryGuard> When = {};
};

/// The result of emitUnit().
struct EmittedUnit {
  std::string Container; ///< The new container; empty if nothing changed.
  std::vector<EmittedKernel> Kernels;
  /// The further entries in the container. Launches take them only if the object is made to choose
  /// (withDispatch()).
  std::vector<DispatchedEntry> Entries;
};

/// What emission needs to know of the compile and the machine.
struct EmitContext {
  const Toolchain &T;
  CommandRunner &Runner;
  std::string NvccVersion;
  std::string DevicesDir;               ///< Where the device models are (Device/DeviceModel.h).
  bool Relocatable = false;             ///< Compiled with -rdc=true.
  std::optional<unsigned> Ceiling = {}; ///< The user's own -maxrregcount.
  LaunchDomain Domain = LaunchDomain::Preserve;
  FurtherEntries Entries = FurtherEntries::Values;
  /// Returns the PTX that cicc makes for an image with another setting. Fails with Unsupported if
  /// cicc cannot be run again or refuses the setting. If absent, cicc never can be run.
  std::function<llvm::Expected<std::string>(const DeviceImage &, const FrontEndSetting &)>
      FlavourPtx = {};
};

/// Builds the container of \p U with the decisions of \p Profiles applied, chosen as
/// DecisionChoice.h says. Files are written to \p WorkDir.
/// A kernel keeps its default, with a reason, if its decision's digest no longer matches, if the
/// launch domain or the user's cap forbids the variant, if the variant is not possible for the
/// kernel, or if its code would not be the code that was timed.
/// A kernel that has a setting of the assembler is assembled by a run of its own, and its code put
/// into the image.
/// Further entries are in every image and every PTX of the container; where a decision does not ask
/// for one, or its variant is refused, it has the kernel's own code. With -rdc there are none.
/// If the unit has PTX but no image for an architecture, an image is added if a decision was timed
/// in such an image (ImageOrigin::FromPtx).
/// Fails if a tool fails, or if the code of a kernel without a decision would change.
llvm::Expected<EmittedUnit> emitUnit(const DeviceUnit &U, llvm::ArrayRef<const Profile *> Profiles,
                                     const EmitContext &Context, llvm::StringRef WorkDir);

} // namespace carve
