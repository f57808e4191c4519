/// \file
/// Finds the loops of PTX again in the machine code that ptxas made of it, so that the trip counts
/// of the PTX can be used for the machine code.
#pragma once

#include "Metrics/Counts/Counts.h"

#include <vector>

namespace carve {

/// Sets the trips, runs, source and line of the loops of \p Code from those of \p Ptx, both in the
/// order of their code. Loops are matched in their order among the loops of one parent. ptxas
/// changes loops in these ways:
/// - A loop that it unrolls holds its memory accesses (or, without any, its instructions) several
///   times. The trips are divided by that factor.
/// - If the trips are not a multiple of the factor, a smaller loop right after it does the rest.
///   All loops made of one loop together do its trips and its runs. If there are too few trips for
///   the unrolled loop, it has none.
/// - Loops of few constant trips vanish, and so do loops that do the rest of cicc's unrolling. If
///   others vanish, they are assumed to be the smallest.
/// - Atomic operations that the hardware lacks become loops, which are assumed to run once.
///
/// If the numbers of loops still differ, the loops of that parent keep the trips that they have.
void matchLoops(const std::vector<LoopCount> &Ptx, std::vector<LoopCount> &Code);

} // namespace carve
