/// \file
/// Finds the PTX that the container of a unit carries, from fatbinary's arguments. Recording a
/// compile uses it.
#pragma once

#include "Nvcc/BuildPlan.h"

namespace carve {

/// One PTX file that is put into a container.
struct PlannedPtx {
  unsigned Compute = 0; ///< 75 for compute_75.
  std::string Path;
};

/// Returns the PTX files among \p U's fatbinary arguments (`--image3=kind=ptx,sm=75,file=...`). PTX
/// for a specific architecture (`sm=90a`) is left out, because it runs only on that one.
std::vector<PlannedPtx> embeddedPtx(const DeviceUnit &U);

/// Returns the options of ptxas that apply to PTX of \p U without an image of its own. They are the
/// options of the first image; the caller must replace the architecture in them.
std::vector<std::string> sharedPtxasOptions(const DeviceUnit &U);

/// Returns \p Options of ptxas with the architecture \p Arch.
std::vector<std::string> withArchitecture(llvm::ArrayRef<std::string> Options,
                                          llvm::StringRef Arch);

/// Returns the number of an architecture: 90 for `sm_90`, `sm_90a` and `compute_90`.
unsigned architectureNumber(llvm::StringRef Arch);

} // namespace carve
