/// \file
/// Counts of a kernel's PTX.
#pragma once

#include "Metrics/Counts/Counts.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace carve {

/// Counts of \p Entry's PTX with what it calls, for one thread. Not counted: what becomes no
/// instruction (`ld.param`, `st.param`, `cvta.to`). Loads and stores of generic addresses count as
/// global. The ways of a branch weigh the same (Ptx/ControlFlow.h says which not). A call counts
/// the callee's body where the module has it; one by address and one that is running already count
/// as one instruction. With TripCounts::Runs the counts are means over the threads that ran, and
/// those of a callee over all calls of it. \p ThreadsPerBlockX: with fewer than a warp, neighbours
/// in x end sooner. Fails where the entry is not in the module or its code is no PTX that can be
/// read.
llvm::Expected<CountedKernel> countPtxKernel(const PtxModule &M, llvm::StringRef Entry,
                                             const TripCounts &Trips, unsigned ThreadsPerBlockX);
llvm::Expected<KernelCounts> countPtx(const PtxModule &M, llvm::StringRef Entry,
                                      const TripCounts &Trips, unsigned ThreadsPerBlockX);

} // namespace carve
