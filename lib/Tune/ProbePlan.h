/// \file
/// Writes the plan of a timing run (Probe/Protocol.h): which kernels the probe replays or rotates,
/// in which shapes, with which clones. Between ModeChoice and the run.
#pragma once

#include "Tune/ModeChoice.h"

namespace carve {

struct PlanLimits {
  uint64_t Seed = 1;     ///< Of the permutations.
  uint64_t ReplayMs = 0; ///< For all replays of a process; 0: no limit.
  uint64_t HangMs = 3'000;
};

/// The plan for \p Job with one of \p Choices for each of its kernels. Variants of \p Excluded were
/// at fault in an earlier run and are not run again; a kernel whose default was at fault, or that
/// has no variant left beside the default and its control copy, is left out. So are kernels of
/// TimingMode::Fixed.
std::string printPlan(const TuningJob &Job, llvm::ArrayRef<ModeChoice> Choices,
                      llvm::ArrayRef<InRunRecord::Fault> Excluded, const PlanLimits &Limits);

} // namespace carve
