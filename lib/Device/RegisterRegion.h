/// \file
/// The register region of a kernel: the registers it uses when the compiler is pressed hardest
/// and when it is free (the critical-points paper's register-usage equivalence region, RER).
#pragma once

#include "Cubin/KernelResources.h"
#include "Nvcc/BuildPlan.h"
#include "Nvcc/Toolchain.h"
#include "Ptx/PtxModule.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// Per kernel: resources by default and at the two ends of the region.
struct RegisterRegion {
  std::string Kernel; ///< Mangled.
  KernelResources Default;
  KernelResources
      AtMin; ///< At `-maxrregcount=1`, which ptxas raises to its floor (24 on sm_75 to sm_121).
  KernelResources AtMax; ///< At `-maxrregcount=255`, or at the ceiling that the user set.

  unsigned rMin() const { return AtMin.RegsPerThread; }
  unsigned rMax() const { return AtMax.RegsPerThread; }
};

/// Finds the regions of all entries of \p Ptx (the PTX that nvcc kept) for \p Image's architecture
/// and ptxas options, by `nvcc -cubin -maxrregcount=N -Xptxas -v` on the PTX, so that cicc never
/// sees the cap; entries that ignore that option get the cap as `.maxnreg`. \p Ceiling: the user's
/// own register cap, never exceeded. Fails where nvcc fails.
llvm::Expected<std::vector<RegisterRegion>>
findRegisterRegions(const Toolchain &T, CommandRunner &Runner, const PtxModule &Ptx,
                    const DeviceImage &Image, std::optional<unsigned> Ceiling);

/// One image whose regions are wanted, as for findRegisterRegions() of a single one.
struct RegionRequest {
  const PtxModule &Ptx;
  const DeviceImage &Image;
  std::optional<unsigned> Ceiling;
};

/// The regions of several images, in their order; as many assemblers run at once as the machine has
/// cores.
llvm::Expected<std::vector<std::vector<RegisterRegion>>>
findRegisterRegions(const Toolchain &T, CommandRunner &Runner,
                    llvm::ArrayRef<RegionRequest> Requests);

/// The register cap in force among ptxas \p Options, wherever the user wrote it; 0 is unset.
std::optional<unsigned> registerCapOf(llvm::ArrayRef<std::string> Options);

/// Why a kernel's registers are left alone (`setmaxnreg`, `unknown-stack`, `external-call`,
/// `shared-callee`), or nothing where it can be tuned. \p Relocatable: compiled with -rdc=true.
std::optional<std::string> reasonNotTunable(const PtxEntry &Entry, bool Relocatable);

} // namespace carve
