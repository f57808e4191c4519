/// \file
/// How a build system learns that an output has a new decision: by the unit's decision file in the
/// output's depfile.
#pragma once

#include "Compile/Emission.h"

namespace carve {

/// Adds the decision files of \p Units, and the profile at \p ProfilePath where that is not empty,
/// to the depfile that \p C has made nvcc write. Sets every unit's cue, and logs why a file could
/// not be listed.
void listDecisions(const CommandLine &C, llvm::StringRef WorkDir, llvm::StringRef ProfilePath,
                   bool BehindCache, std::vector<CompiledUnit> &Units, UnitStore &Store);

} // namespace carve
