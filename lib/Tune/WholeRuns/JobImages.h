/// \file
/// Writes the images of a job with an assignment in place: what the probe puts under the program.
#pragma once

#include "Tune/Job/TuningJob.h"
#include "Tune/Selection/Selection.h"
#include "Workload/Workload.h"

namespace carve {

/// Writes into \p Dir an image for every module and device link of \p Job whose kernels have the
/// variants of \p A under their own names, and says which containers they replace. Empty \p A:
/// the program untouched, no image. All 0: the multi-version images as they are, so that the
/// default runs and the variants are there to be launched.
llvm::Expected<ImageMap> placeImages(const TuningJob &Job, TuningScope Scope, const Assignment &A,
                                     const std::string &Dir);

} // namespace carve
