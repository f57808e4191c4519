/// \file
/// How a build system learns that an output has a new decision: by the unit's decision file in the
/// output's depfile.
#pragma once

#include "Driver/Emission.h"

namespace carve {

/// Whether this compile runs under a compiler cache that would return its output again although a
/// decision has changed: ccache or sccache without \p DigestFile in CCACHE_EXTRAFILES.
bool cacheWouldNotNotice(GetEnv Env, llvm::StringRef DigestFile);

/// Adds the decision files of \p Units, and \p ProfilePath where it is not empty, to the depfile
/// that
/// \p C has made nvcc write. Sets every unit's cue, and logs why a file could not be listed.
void listDecisions(const CommandLine &C, llvm::StringRef WorkDir, llvm::StringRef ProfilePath,
                   bool BehindCache, std::vector<CompiledUnit> &Units, UnitStore &Store);

} // namespace carve
