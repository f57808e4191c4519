/// \file
/// The stage of a search through a space that compiles configurations to device code and computes
/// their metrics. It follows SearchRuns' traceReference(), whose launches it uses.
#pragma once

#include "Spaces/SearchState.h"

namespace carve {

/// Compiles the configurations that are not known yet to device code, several at once, and computes
/// their metrics. A configuration that does not compile becomes invalid. Fails if no source has a
/// kernel, or if a compiler cannot be started or is interrupted.
llvm::Error compileSpace(SearchState &S);

} // namespace carve
