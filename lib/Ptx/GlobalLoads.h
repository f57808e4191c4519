/// \file
/// Finds the loads of a body that use the caches in the usual way only because the program does not
/// say otherwise, and says how they are written for each value of LoadCaching. PtxBody notes which
/// bodies have such loads, and ModuleEditor changes them.
#pragma once

#include "Ptx/LoadCaching.h"
#include "Ptx/PtxLexer.h"

#include <optional>

namespace carve {

/// A modifier to insert into a load.
struct LoadModifier {
  size_t Place = 0; ///< Offset in the text.
  llvm::StringRef Modifier;
};

/// Returns what \p Caching inserts into \p Instruction (tokens of \p Text with roles set); nothing
/// if it leaves the instruction alone. It leaves alone everything but weak loads (`ld`, also with
/// `.weak`) without a cache operator, an eviction priority or a cache policy. So `ld.volatile`,
/// `.relaxed`, `.acquire` and `.mmio` stay, which take no operator.
///
/// L2Only changes the loads that `ptxas -dlcm=cg` changes: `ld.global`, and `ld` with a generic
/// address, but not `ld.global.nc` (compared for sm_75 to sm_120 with CUDA 13.0).
///
/// EvictFirst and NoAllocate change `ld.global` and `ld.global.nc`. A load with a generic address
/// stays: it may read local memory, where `.cs` means that the value is not needed again, and
/// eviction priorities are defined for global memory alone (PTX ISA, "Cache Operators" and "ld").
///
/// `ldu` is never changed: it takes no operator, and no compiler has written it since sm_20.
std::optional<LoadModifier> loadModifier(llvm::StringRef Text, llvm::ArrayRef<PtxToken> Instruction,
                                         LoadCaching Caching);

} // namespace carve
