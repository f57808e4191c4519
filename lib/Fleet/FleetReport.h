/// \file
/// Prints what came of a plan, for `carve fleet merge`.
#pragma once

#include "Fleet/FleetMerge.h"

namespace carve {

/// Returns \p Merged as text. \p Folder is that of the plan, as the user gave it.
std::string printFleetText(const MergedFleet &Merged, const FleetPlan &Plan,
                           llvm::StringRef Folder);
/// Returns it as one JSON object; share/doc/formats.md describes it.
std::string printFleetJson(const MergedFleet &Merged, const FleetPlan &Plan);

/// Returns one line on what is missing: the number of unfinished shards, and the first of the
/// refused results with the number of the others.
std::string whatIsMissing(const MergedFleet &Merged);

} // namespace carve
