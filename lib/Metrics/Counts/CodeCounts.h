/// \file
/// Counts of a kernel's machine code.
#pragma once

#include "Metrics/Counts/Counts.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace carve {

/// Counts of the machine code of \p Kernel in a cubin for sm_75 or newer, with the functions that
/// it calls: spills as ptxas made them. Trip counts are those of the PTX where Trips.OfPtx fits,
/// else assumed: bounds cannot be seen, and a loop that ptxas has unrolled is then counted too
/// often. Coalescing is not seen. Fails where the cubin has no such kernel, and as Unsupported
/// where its architecture is unknown or its code is not read in full.
llvm::Expected<CountedKernel> countCodeKernel(llvm::StringRef CubinBytes, llvm::StringRef Kernel,
                                              const TripCounts &Trips);
llvm::Expected<KernelCounts> countCode(llvm::StringRef CubinBytes, llvm::StringRef Kernel,
                                       const TripCounts &Trips);

} // namespace carve
