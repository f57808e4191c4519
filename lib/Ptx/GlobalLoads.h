/// \file
/// Which loads of a body go through L1 for no other reason than that the program did not say
/// otherwise: those that `ptxas -dlcm` decides, and that LoadsFromL2 of an EntryEdit changes.
#pragma once

#include "Ptx/PtxLexer.h"

#include <optional>

namespace carve {

/// For an instruction (roles set) that is such a load, the offset at which `.cg` belongs; nothing
/// for any other. These are `ld`, `ld.global` and their `.weak` forms, without a cache operator, an
/// eviction priority or a memory order. A generic `ld` is among them, because `-dlcm=cg` changes it
/// too; `ld.global.nc` is none, because that option leaves it (compared for sm_75 to sm_120 of CUDA
/// 13.0). `ldu` is none either: it takes no operator, and no compiler has written it since sm_20.
std::optional<size_t> placeOfCacheOperator(llvm::StringRef Text,
                                           llvm::ArrayRef<PtxToken> Instruction);

} // namespace carve
