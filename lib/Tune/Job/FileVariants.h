/// \file
/// The variants of whole files: one cap for all kernels, by nvcc.
#pragma once

#include "Tune/Job/JobParts.h"

#include "llvm/Support/Error.h"

namespace carve {

/// Compiles every unit by nvcc at each cap of its kernels.
llvm::Error makeFileVariants(TuningJob &Job, const JobContext &Context);

} // namespace carve
