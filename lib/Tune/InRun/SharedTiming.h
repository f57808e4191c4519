/// \file
/// Shares the kernels of a timing run out to several GPUs, and joins what their runs found. Kernels
/// are shared out and never the variants of one: GPUs of one kind differ by some per cent, so a
/// variant and the default that it is compared with must be timed on the same GPU.
#pragma once

#include "Tune/InRun/InRunTuning.h"

namespace carve {

/// Returns for each kernel the number of its GPU, from 0 to \p Gpus - 1. \p Cost is what timing
/// each kernel is expected to take, in any unit. The largest comes first, and each goes to the GPU
/// that has least to do.
std::vector<size_t> shareKernels(llvm::ArrayRef<double> Cost, size_t Gpus);

/// Judges timing runs that several GPUs made at once. \p Parts has one result for each GPU, and \p
/// GpuOf the GPU of each kernel; with a single part all kernels are its own. Each kernel is judged
/// by its own GPU's run alone, so that a run that failed or printed something else costs only its
/// kernels their times: they are in TimingRunResult::Excluded. The joined result has a Failure if
/// every run has one. \p Earlier has the verdicts of earlier runs.
InRunTuning judgeTimingRuns(const TuningJob &Job, const JobBuild &Built,
                            std::vector<ModeChoice> Choices, std::vector<TimingRunResult> Parts,
                            llvm::ArrayRef<size_t> GpuOf,
                            llvm::ArrayRef<VerifiedVariant> Earlier = {});

/// The sum of \p Parts as one result. Their runs were made at the same time, so the wall time is
/// that of the longest. The kernels of a run that failed beside others that did not are excluded
/// for its failure.
TimingRunResult joinTimingRuns(const TuningJob &Job, std::vector<TimingRunResult> Parts,
                               llvm::ArrayRef<size_t> GpuOf);

} // namespace carve
