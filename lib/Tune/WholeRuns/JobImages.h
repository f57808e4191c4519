/// \file
/// Writes the images of a job for one assignment of variants. The probe then replaces the program's
/// images by these. WorkloadSampler and the timing run use it before each run.
#pragma once

#include "Tune/Job/JobBuild.h"
#include "Tune/Selection/Selection.h"
#include "Workload/Workload.h"

namespace carve {

/// Writes into \p Dir an image for every module and device link of \p Built, in which the variants
/// of \p A have their kernels' own names, other than those that depend on the launch
/// (isDispatched()). Returns the images by the containers that they replace.
/// If \p A is empty, the program stays untouched and there is no image. If all elements are 0, the
/// multi-version images are written unchanged: the default runs, and the variants are there to be
/// launched. Fails if a variant is only timed, or if an image cannot be written.
llvm::Expected<ImageMap> placeImages(const TuningJob &Job, const JobBuild &Built, TuningScope Scope,
                                     const Assignment &A, const std::string &Dir);

} // namespace carve
