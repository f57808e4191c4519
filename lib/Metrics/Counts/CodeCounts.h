/// \file
/// Counts the instructions of a kernel's machine code, which has the spills that ptxas made.
/// MetricsPipeline and the carving of variants use these counts.
#pragma once

#include "Metrics/Counts/Counts.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace carve {

/// Counts the machine code of \p Kernel (its mangled name) in a cubin for sm_75 or newer, with the
/// functions that it calls. A loop has the trips of its counterpart in the PTX if Trips.OfPtx has
/// one. Otherwise its trips are assumed, because machine code does not show bounds, and a loop that
/// ptxas unrolled is counted too often. Coalescing cannot be seen. Fails if the cubin has no such
/// kernel. Fails with Unsupported if its architecture is unknown or its code cannot be read
/// completely.
llvm::Expected<CountedKernel> countCodeKernel(llvm::StringRef CubinBytes, llvm::StringRef Kernel,
                                              const TripCounts &Trips);
/// Does the same, and returns the counts only.
llvm::Expected<KernelCounts> countCode(llvm::StringRef CubinBytes, llvm::StringRef Kernel,
                                       const TripCounts &Trips);

} // namespace carve
