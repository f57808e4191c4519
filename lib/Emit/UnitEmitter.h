/// \file
/// From decisions to a tuned object: the unit's PTX edited and assembled as it was when timed, the
/// container rebuilt by fatbinary and spliced into the object that nvcc made.
#pragma once

#include "Device/CriticalPoints.h"
#include "Nvcc/BuildPlan.h"
#include "Nvcc/Toolchain.h"
#include "Store/Profile.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace carve {

/// What was done with one kernel of a unit that a decision spoke of.
struct EmittedKernel {
  std::string Kernel, Arch;
  VariantSetting Variant; ///< Emitted with it.
  std::string Reason;     ///< Why the default stays; empty where it does not.
};

struct EmittedUnit {
  std::string Container; ///< The new container; empty where nothing changed.
  std::vector<EmittedKernel> Kernels;
};

struct EmitContext {
  const Toolchain &T;
  CommandRunner &Runner;
  std::string NvccVersion;
  std::string DevicesDir;
  bool Relocatable = false;
  std::optional<unsigned> Ceiling = {}; ///< The user's own register cap.
  LaunchDomain Domain = LaunchDomain::Preserve;
  /// The PTX that cicc makes for an image with `-maxreg Cap`. Fails with Unsupported where cicc
  /// cannot be run again; absent: it never can.
  std::function<llvm::Expected<std::string>(const DeviceImage &, unsigned Cap)> FlavourPtx = {};
};

/// Builds the container of \p U with the decisions of \p Profiles in it, chosen as DecisionChoice.h
/// says. \p WorkDir takes the files. Decisions whose digest no longer holds, that the launch domain
/// or the user's cap forbids, that cannot be had of the kernel, or whose code would not be the code
/// that was timed, leave the default, each with its reason. A register-usage level is an option of
/// the whole image: it is applied where all decisions that name one agree and where each kernel
/// without a decision still accepts every launch. For an architecture that the unit has PTX but no
/// image for, an image is added where a decision was timed in such an image (ImageOrigin::FromPtx).
/// Fails where a tool fails, or where a kernel without a decision would change for another reason.
llvm::Expected<EmittedUnit> emitUnit(const DeviceUnit &U, llvm::ArrayRef<const Profile *> Profiles,
                                     const EmitContext &Context, llvm::StringRef WorkDir);

} // namespace carve
