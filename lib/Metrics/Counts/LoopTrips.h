/// \file
/// How often the loops of a PTX function run, as far as their code says.
#pragma once

#include "Metrics/Counts/Counts.h"
#include "Ptx/PtxInstructions.h"

#include <vector>

namespace carve {

/// For each loop of \p F.Flow its line, depth, trips and where these come from. Only loops whose
/// variable starts at a constant or at the thread's index, is changed by a constant and is compared
/// with a constant have a count of their own; where a loop can be left in other places too it is
/// taken to run to its count. \p FirstNumber: of the first loop.
std::vector<LoopCount> loopTrips(const PtxFunction &F, const TripCounts &Known,
                                 unsigned FirstNumber);

} // namespace carve
