/// \file
/// Runs independent tasks in parallel, e.g. the compiles of variants.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstddef>

namespace carve {

/// Runs \p Task with 0 to \p Count - 1, at most \p Most at once (0: as many as there are
/// processors). Returns when all have ended.
void runInParallel(size_t Count, llvm::function_ref<void(size_t)> Task, unsigned Most = 0);

} // namespace carve
