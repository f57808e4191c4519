/// \file
/// Makes the variants of whole files (TuningScope::File): nvcc compiles each file with one register
/// cap for all its kernels. It follows prepareJob() in that scope.
#pragma once

#include "Tune/Job/JobParts.h"

#include "llvm/Support/Error.h"

namespace carve {

/// Compiles every unit of \p Job at each cap that its kernels propose, and sets
/// ModuleBuild::FileVariants. A cap that does not compile or is forbidden is logged and left out.
/// Fails if a unit has no image for the device, or if its default image cannot be read.
llvm::Error makeFileVariants(const TuningJob &Job, const JobContext &Context, JobBuild &Built);

} // namespace carve
