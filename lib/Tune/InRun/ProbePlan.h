/// \file
/// Writes the plan of a timing run (Protocol/Protocol.h): which kernels the probe replays or
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
/// in the modules now (JobVariant::InModule), and numbers them by themselves. Variants of
/// \p Excluded were at fault in an earlier run and are not run again; a kernel whose default was at
/// fault, or that has no variant left beside the default and its control copy, is left out. So are
/// kernels of TimingMode::Fixed, and kernels with variants that are only timed
/// (JobVariant::OnlyTimed) unless they are replayed and nothing else.
std::string printPlan(const TuningJob &Job, llvm::ArrayRef<ModeChoice> Choices,
                      llvm::ArrayRef<InRunRecord::Fault> Excluded, const PlanLimits &Limits);

/// Numbers the variants of \p Record, which a run with a plan of \p Job left, as the job does.
void takePlanNumbers(InRunRecord &Record, const TuningJob &Job);

/// Gives every variant of \p Record the number that \p NewNumber has for it; what has none there is
/// left out.
void renumberVariants(
    InRunRecord &Record,
    llvm::function_ref<std::optional<size_t>(const std::string &Kernel, size_t Variant)> NewNumber);

} // namespace carve
