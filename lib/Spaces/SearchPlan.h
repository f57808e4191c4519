/// \file
/// The first stage of a search through a space: parses the command and lists the configurations.
#pragma once

#include "Spaces/SearchState.h"

namespace carve {

/// Parses the command, lists the configurations, and chooses the architecture for the metrics.
/// Fails if the command cannot be searched, if its compiler is not found, or if no configuration is
/// left.
llvm::Error planSearch(SearchState &S);

} // namespace carve
