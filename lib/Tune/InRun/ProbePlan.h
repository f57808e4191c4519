/// \file
/// Writes the plan of a timing run (Protocol/PlanRecords.h): which kernels the probe replays or
/// rotates, in which shapes, and with which clones. It comes after ModeChoice and before TimingRun.
#pragma once

#include "Tune/InRun/ModeChoice.h"
#include "Tune/Selection/Selection.h"

namespace carve {

/// The limits that a plan gives to the probe.
struct PlanLimits {
  uint64_t Seed = 1;       ///< The seed of the permutations.
  uint64_t ReplayMs = 0;   ///< Time for all replays of one process; 0 if it is not limited.
  uint64_t HangMs = 3'000; ///< A launch that takes longer counts as hung.
};

/// Prints the plan for \p Job, with one of \p Choices for each of its kernels. The plan has the
/// variants that are in the modules of \p Built now (JobVariant::InModule). Variants in \p Excluded
/// had a fault in an earlier run and are not run again. The plan leaves out:
/// - kernels with TimingMode::Fixed;
/// - kernels whose default had a fault;
/// - kernels that have no variant left besides the default and its control copy;
/// - kernels with variants that are only timed (JobVariant::OnlyTimed), unless they are replayed
///   and may not be rotated.
std::string printPlan(const TuningJob &Job, const JobBuild &Built,
                      llvm::ArrayRef<ModeChoice> Choices, llvm::ArrayRef<VariantFault> Excluded,
                      const PlanLimits &Limits);

/// Prints the plan of a whole run with the variants \p A, or an empty text if none of them depends
/// on the launch (isDispatched()). At each launch the probe then runs the variant or the default.
std::string printDispatchPlan(const TuningJob &Job, const JobBuild &Built, const Assignment &A);

/// Removes from \p Record, which an earlier tuning made, all records of variants that are not in
/// the modules of \p Built now.
void keepPlanned(InRunRecord &Record, const TuningJob &Job, const JobBuild &Built);

} // namespace carve
