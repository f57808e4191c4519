/// \file
/// Finds the loads of a body that are cached in L1 only because the program does not say otherwise.
/// These are the loads that `ptxas -dlcm` decides, and that LoadsFromL2 of an EntryEdit changes.
#pragma once

#include "Ptx/PtxLexer.h"

#include <optional>

namespace carve {

/// Returns the offset in \p Text at which `.cg` belongs if \p Instruction (tokens with roles set)
/// is such a load; nothing for any other instruction. These are `ld`, `ld.global` and their `.weak`
/// forms, without a cache operator, an eviction priority or a memory order. A generic `ld` is among
/// them, because `-dlcm=cg` changes it, too. `ld.global.nc` is not, because that option leaves it
/// alone (compared for sm_75 to sm_120 with CUDA 13.0). `ldu` is not, either: it takes no operator,
/// and no compiler has written it since sm_20.
std::optional<size_t> placeOfCacheOperator(llvm::StringRef Text,
                                           llvm::ArrayRef<PtxToken> Instruction);

} // namespace carve
