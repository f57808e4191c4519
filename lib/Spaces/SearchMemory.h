/// \file
/// Keeps in the store what a search through a space has found, and takes it from there again.
#pragma once

#include "Spaces/SearchState.h"

namespace carve {

/// Takes over what the store knows of this search, if the sources are still the same. A record that
/// cannot be read is not used.
llvm::Error recallSearch(SearchState &S, const UnitStore &Store);
/// Keeps the record under its key. If the store cannot be written, only a note says so.
void rememberSearch(SearchState &S, UnitStore &Store);

} // namespace carve
