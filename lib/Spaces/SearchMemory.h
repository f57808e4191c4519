/// \file
/// What the store remembers of a search through a space.
#pragma once

#include "Spaces/SearchState.h"

namespace carve {

/// Brings back what the store knows of this search, where its sources are the same.
llvm::Error recallSearch(SearchState &S, const UnitStore &Store);
/// Keeps the record under its key. A store that cannot be written is no failure.
void rememberSearch(SearchState &S, UnitStore &Store);

} // namespace carve
