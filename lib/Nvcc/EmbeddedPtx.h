/// \file
/// The PTX that a unit's container carries, read from fatbinary's arguments.
#pragma once

#include "Nvcc/BuildPlan.h"

namespace carve {

struct PlannedPtx {
  unsigned Compute = 0; ///< 75 for compute_75.
  std::string Path;
};

/// The PTX files among \p U's fatbinary arguments (`--image3=kind=ptx,sm=75,file=...`). That of a
/// specific architecture (`sm=90a`) is left out: it runs on that one alone.
std::vector<PlannedPtx> embeddedPtx(const DeviceUnit &U);

/// ptxas' options that hold for PTX of \p U without an image of its own: those of its first image,
/// whose architecture is the caller's to replace.
std::vector<std::string> sharedPtxasOptions(const DeviceUnit &U);

/// \p Options (ptxas') with the architecture \p Arch.
std::vector<std::string> withArchitecture(llvm::ArrayRef<std::string> Options,
                                          llvm::StringRef Arch);

/// The number of an architecture: 90 of `sm_90`, `sm_90a` and `compute_90`.
unsigned architectureNumber(llvm::StringRef Arch);

} // namespace carve
