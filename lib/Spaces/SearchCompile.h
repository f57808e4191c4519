/// \file
/// The stage of a search through a space that compiles configurations to device code, for their
/// metrics.
#pragma once

#include "Spaces/SearchState.h"

namespace carve {

/// Compiles what is not known yet to device code and computes the metrics.
llvm::Error compileSpace(SearchState &S);

} // namespace carve
