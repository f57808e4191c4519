/// \file
/// Finds what the traced launches of a job's kernels have in common, all of them or those of one
/// shape, so that code can be compiled for it. It is the last step of prepareJob() (TuningJob.h).
#pragma once

#include "Tune/Job/JobParts.h"

namespace carve {

/// Sets JobKernel::Known, KnownShapes, KnownPtx, Apart and Restrict of the kernels that may have
/// further entries for the values of their arguments, which \p Trace has seen. What cannot be
/// written into a kernel's text is logged and left out of the first two.
void findKnownLaunches(const ProbeRecord &Trace, const std::vector<ParsedModule> &Parsed,
                       TuningJob &Job, const JobContext &Context);

} // namespace carve
