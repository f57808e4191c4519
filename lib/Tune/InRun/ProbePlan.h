/// \file
/// Writes the plan of a timing run (Protocol/PlanRecords.h): which kernels the probe replays or
/// rotates, in which shapes, with which clones. Between ModeChoice and the run.
#pragma once

#include "Tune/InRun/ModeChoice.h"

namespace carve {

struct PlanLimits {
  uint64_t Seed = 1;     ///< Of the permutations.
  uint64_t ReplayMs = 0; ///< For all replays of a process; 0: no limit.
  uint64_t HangMs = 3'000;
};

/// The plan for \p Job with one of \p Choices for each of its kernels. It has the variants that are
/// in the modules now (JobVariant::InModule). Variants of \p Excluded were at fault in an earlier
/// run and are not run again; a kernel whose default was at fault, or that has no variant left
/// beside the default and its control copy, is left out. So are kernels of TimingMode::Fixed, and
/// kernels with variants that are only timed (JobVariant::OnlyTimed) unless they are replayed and
/// nothing else.
std::string printPlan(const TuningJob &Job, llvm::ArrayRef<ModeChoice> Choices,
                      llvm::ArrayRef<VariantFault> Excluded, const PlanLimits &Limits);

/// Leaves out of \p Record, which was recorded in an earlier tuning, what is of variants that are
/// not in the modules of \p Job now.
void keepPlanned(InRunRecord &Record, const TuningJob &Job);

} // namespace carve
