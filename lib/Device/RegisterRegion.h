/// \file
/// Finds the register region of a kernel: the registers that it uses at the smallest register cap
/// and at the largest. The critical-points paper calls it the register-usage equivalence region
/// (RER).
#pragma once

#include "Cubin/KernelResources.h"
#include "Nvcc/BuildPlan.h"
#include "Nvcc/Toolchain.h"
#include "Ptx/PtxModule.h"
#include "Support/StayReason.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// The resources of one kernel by default and at the two ends of its region.
struct RegisterRegion {
  std::string Kernel; ///< The mangled name.
  KernelResources Default;
  /// At `-maxrregcount=1`, which ptxas raises to its own minimum (24 on sm_75 to sm_121).
  KernelResources AtMin;
  /// At `-maxrregcount=255`, or at the ceiling that the user set.
  KernelResources AtMax;

  /// Return the registers per thread at the two ends.
  unsigned rMin() const { return AtMin.RegsPerThread; }
  unsigned rMax() const { return AtMax.RegsPerThread; }
};

/// Finds the regions of all entries of \p Ptx, the PTX that nvcc kept, for the architecture and the
/// ptxas options of \p Image. It runs `nvcc -cubin -maxrregcount=N -Xptxas -v` on the PTX, so that
/// cicc never sees the cap. Entries that ignore this option get the cap as `.maxnreg`. \p Ceiling
/// is the user's own register cap, which is never exceeded. Fails if nvcc or ptxas fails, or if
/// ptxas reports nothing of an entry.
llvm::Expected<std::vector<RegisterRegion>>
findRegisterRegions(const Toolchain &T, CommandRunner &Runner, const PtxModule &Ptx,
                    const DeviceImage &Image, std::optional<unsigned> Ceiling);

/// One image whose regions are wanted, with the arguments of the function above.
struct RegionRequest {
  const PtxModule &Ptx;
  const DeviceImage &Image;
  std::optional<unsigned> Ceiling;
};

/// Finds the regions of several images, in their order. As many assemblers run at once as the
/// machine has cores.
llvm::Expected<std::vector<std::vector<RegisterRegion>>>
findRegisterRegions(const Toolchain &T, CommandRunner &Runner,
                    llvm::ArrayRef<RegionRequest> Requests);

/// Returns the register cap that ptxas \p Options set, in whatever spelling; nothing if it is unset
/// or 0.
std::optional<unsigned> registerCapOf(llvm::ArrayRef<std::string> Options);

/// Returns the reason why a kernel's registers are left alone (SetMaxNReg, UnknownStack,
/// ExternalCall or SharedCallee); nothing if it can be tuned. \p Relocatable tells whether it is
/// compiled with -rdc=true.
std::optional<KnownReason> reasonNotTunable(const PtxEntry &Entry, bool Relocatable);

} // namespace carve
