/// \file
/// Adds the modified versions of a job's kernels (ModifiedKernel.h) to what is built from the job,
/// as variants that are only timed, and reads their times from the record of a timing run. The
/// first happens between prepareJob() and the run. Nothing is chosen from them.
#pragma once

#include "Explain/Modified/ModifiedTimes.h"
#include "Tune/InRun/TimingRun.h"
#include "Tune/Job/JobParts.h"

#include <set>

namespace carve {

/// The indices of the modified versions in KernelBuild::Variants. An index is 0 if the kernel has
/// no such version.
struct ModifiedVariants {
  size_t Memory = 0, Arithmetic = 0;
  std::string Reason; ///< Why one or both are missing.
};

/// Gives every kernel of \p Job whose mangled name is in \p Wanted (empty for all) its default, its
/// control copy and its modified versions as variants. Assembles and links the modules that have
/// some, into \p Built. Each version has as many blocks per SM as its kernel, and its code was
/// compared with the kernel's (ModifiedCode.h). Returns the versions by kernel of the job.
std::vector<ModifiedVariants> makeModifiedVariants(const TuningJob &Job, const JobSources &Sources,
                                                   const JobContext &Context,
                                                   const std::set<std::string> &Wanted,
                                                   JobBuild &Built);

/// Returns the times of \p K with \p Variants in the launch shape \p Shape from \p Record, with
/// cold and warm replays weighted so that the default has its traced time. For a version without
/// times, adds the reason to that of \p Made.
ModifiedTimes modifiedTimes(const JobKernel &K, llvm::ArrayRef<JobVariant> Variants,
                            const ModifiedVariants &Made, const LaunchShape &Shape,
                            const InRunRecord &Record);

} // namespace carve
