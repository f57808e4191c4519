/// \file
/// The first stage of a search through a space: the command taken apart, the configurations listed.
#pragma once

#include "Spaces/SearchState.h"

namespace carve {

/// Takes the command apart and lists the configurations.
llvm::Error planSearch(SearchState &S);

} // namespace carve
