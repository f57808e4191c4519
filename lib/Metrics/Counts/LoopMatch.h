/// \file
/// Finds the loops of PTX again in the machine code that ptxas made of it, so that trip counts of
/// the one serve the other.
#pragma once

#include "Metrics/Counts/Counts.h"

#include <vector>

namespace carve {

/// Sets trips, runs, source and line of the loops of \p Code from those of \p Ptx, both in the
/// order of their code. Loops are matched in their order among the loops of one parent. ptxas
/// changes them:
/// - One that it unrolls holds its memory accesses (or, without any, its instructions) several
///   times; the trips are divided by that.
/// - What unrolling leaves is a smaller loop right behind, where the trips are no multiple. All
/// that
///   are made of one loop together do its trips and its runs; the unrolled one has none where the
///   trips are too few.
/// - Loops of few constant trips vanish, and those over what cicc's unrolling leaves; where others
///   do, they are taken to be the smallest.
/// - Atomic operations that the hardware lacks become loops; they are taken to run once.
/// Where the numbers of loops still differ, those of that parent keep what they have.
void matchLoops(const std::vector<LoopCount> &Ptx, std::vector<LoopCount> &Code);

} // namespace carve
