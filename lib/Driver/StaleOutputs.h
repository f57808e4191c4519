/// \file
/// Outputs that hold other decisions than those of today, and how each comes to be made again.
#pragma once

#include "Store/UnitStore.h"

#include <string>
#include <vector>

namespace carve {

struct StaleOutput {
  std::string Source, Output; ///< Absolute.
  RebuildCue Cue = RebuildCue::None;
};

/// The outputs of the store's units whose decisions have changed since they were compiled, by
/// source. \p Folders: only what lies in one of them; empty: all. Outputs and sources that are no
/// longer there are left out.
std::vector<StaleOutput> staleOutputs(const UnitStore &Store, llvm::ArrayRef<std::string> Folders);

/// What a person has to do about them, in a few lines; empty where there are none.
std::string rebuildAdvice(llvm::ArrayRef<StaleOutput> Stale, const UnitStore &Store);

/// Renews the time of modification of \p Source, so that a build system compiles it again.
llvm::Error touchSource(llvm::StringRef Source);

} // namespace carve
