/// \file
/// Counts the instructions of a kernel's PTX. MetricsPipeline, CountedMetrics and the carving of
/// variants use these counts.
#pragma once

#include "Metrics/Counts/Counts.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace carve {

/// Counts the PTX of \p Entry and of what it calls, for one thread. Instructions of which ptxas
/// makes none are not counted (`ld.param`, `st.param`, `cvta.to`). Loads and stores of generic
/// addresses count as global. The ways of a branch weigh the same, with the exceptions in
/// Ptx/ControlFlow.h. A call counts the callee's body if the module has it. A call by address
/// counts as one instruction, and so does a call of a function that is already running. With
/// TripCounts::Runs the counts are means over the threads that ran, and those of a callee are means
/// over all its calls. \p ThreadsPerBlockX is the block's size in x: if it is less than a warp,
/// fewer threads have neighbours in x. Fails if the entry is not in the module or if its code
/// cannot be read.
llvm::Expected<CountedKernel> countPtxKernel(const PtxModule &M, llvm::StringRef Entry,
                                             const TripCounts &Trips, unsigned ThreadsPerBlockX);
/// Does the same, and returns the counts only.
llvm::Expected<KernelCounts> countPtx(const PtxModule &M, llvm::StringRef Entry,
                                      const TripCounts &Trips, unsigned ThreadsPerBlockX);

} // namespace carve
