/// \file
/// The modified versions of a job's kernels (Explain/Modified/ModifiedKernel.h) as variants that
/// are only timed, and what a timing run says of them. Between prepareJob() and the run; nothing is
/// chosen.
#pragma once

#include "Explain/Modified/ModifiedTimes.h"
#include "Tune/InRun/TimingRun.h"
#include "Tune/Job/JobParts.h"

#include <set>

namespace carve {

/// The variants of JobKernel::Variants that are modified versions; 0: there is none.
struct ModifiedVariants {
  size_t Memory = 0, Arithmetic = 0;
  std::string Reason; ///< Why one is missing, or both.
};

/// Gives every kernel of \p Job whose mangled name is in \p Wanted (empty: all) its default, its
/// control copy and its modified versions as variants, and assembles and links the modules that
/// have some. A version has as many blocks on a multiprocessor as the kernel itself, and its code
/// was held against the kernel's (Explain/Modified/ModifiedCode.h). By kernel of the job.
std::vector<ModifiedVariants> makeModifiedVariants(TuningJob &Job, const JobSources &Sources,
                                                   const JobContext &Context,
                                                   const std::set<std::string> &Wanted);

/// The times of \p K in the shape \p Shape that \p Record has, weighted cold and warm as the trace
/// was. A version without times adds the reason to that of \p Made.
ModifiedTimes modifiedTimes(const JobKernel &K, const ModifiedVariants &Made,
                            const LaunchShape &Shape, const InRunRecord &Record);

} // namespace carve
