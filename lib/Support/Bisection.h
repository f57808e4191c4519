/// \file
/// Finds with which of many things a step fails, such as the kernels that an assembler refuses.
/// Most such steps fail because of one or two of many, and each try takes long.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstddef>
#include <vector>

namespace carve {

/// Returns those of 0 to \p Count - 1 with which a step fails that has failed with all of them, in
/// rising order. \p Fails says whether it fails with a part of them; it is called by several
/// threads at once, with parts that are halved until one is left. So nothing is returned that did
/// not fail alone, and what fails only together with something else is not found.
std::vector<size_t> findFailing(size_t Count,
                                llvm::function_ref<bool(llvm::ArrayRef<size_t>)> Fails);

} // namespace carve
