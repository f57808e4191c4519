/// \file
/// Composes a variant of those that timing runs have found fastest for single launch shapes of a
/// kernel: a large and a small grid may want other knobs. TuneRounds has it made and timed like any
/// other variant, and it becomes a further entry for each of its codes.
#pragma once

#include "Tune/InRun/InRunSelection.h"
#include "Tune/Job/JobBuild.h"

namespace carve {

/// Returns of what a variant of \p Kernel may be composed that promises to take at most
/// InRunLimits::WinningRatio of the time of the best of \p Variants, which were timed as \p Outcome
/// says. Without such a promise, its list of codes is empty; so it is for a kernel that is launched
/// with one grid and block.
///
/// Each code is that of a variant that was not rejected, and is for the launches with one block and
/// grid, or with one block if that tells them apart, or if there are more grids than codes. What
/// the variant itself relies on is added. A launch takes the first code that is for it, and nvcc's
/// code if no other is. There are at most MostFurtherEntries codes, and no more than are needed:
/// one more has to gain InRunLimits::LeastMargin. A variant whose interval at a shape overlaps that
/// of the best variant counts as equal to it there, so that no code is chosen by noise. Shapes that
/// were not timed count as unchanged.
///
/// A grid whose times come from a representative, or are a representative's, gets no code of its
/// own: nothing tells it from the rest of its group. Such shapes count where a code is for all
/// grids of their block.
Composition composeOfShapes(const TracedKernel &Kernel, llvm::ArrayRef<JobVariant> Variants,
                            const InRunOutcome &Outcome, const InRunLimits &Limits = {});

} // namespace carve
