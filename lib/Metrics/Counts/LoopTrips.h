/// \file
/// Finds out from the code of a PTX function how often its loops run, as far as the code tells.
/// PtxCounts weights blocks by the result.
#pragma once

#include "Metrics/Counts/Counts.h"
#include "Ptx/PtxInstructions.h"

#include <vector>

namespace carve {

/// Returns the line, depth, trips and trip source of each loop of \p F.Flow. A trip count is
/// computed only for a loop whose variable starts at a constant or at the thread's index, changes
/// by a constant, and is compared with a constant. If such a loop can also be left in other places,
/// it is assumed to run to its count. Other loops have the counts in \p Known. The loops are
/// numbered from \p FirstNumber on.
std::vector<LoopCount> loopTrips(const PtxFunction &F, const TripCounts &Known,
                                 unsigned FirstNumber);

} // namespace carve
