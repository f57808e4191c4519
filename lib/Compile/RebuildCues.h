/// \file
/// Tells a build system when an output has a new decision: it lists the unit's decision file in the
/// output's depfile, and the files that change when the site decides about one of its kernels.
#pragma once

#include "Compile/Emission.h"

namespace carve {

/// Adds the decision files of \p Units, and those of the site, to the depfile that nvcc has written
/// for \p C, and the profile at \p ProfilePath unless that is empty. Sets the cue of every unit,
/// and logs why a file could not be listed.
void listDecisions(const CommandLine &C, llvm::StringRef WorkDir, llvm::StringRef ProfilePath,
                   bool BehindCache, std::vector<CompiledUnit> &Units, UnitStore &Store);

} // namespace carve
