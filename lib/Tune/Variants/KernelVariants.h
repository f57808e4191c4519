/// \file
/// Modules with the clones of their kernels: one module for each unit, with all variants that are
/// timed together.
#pragma once

#include "Tune/Variants/VariantCompiler.h"

namespace carve {

/// Assembles every module of \p Job that has marked variants with their clones, side by side, and
/// takes over what ptxas made of each; the image of a module without any is emptied. Clones that
/// ptxas refuses lose their mark, which JobKernel::Dropped notes.
void assembleVariants(VariantCompiler &Compiler, const JobSources &Sources,
                      const JobContext &Context, TuningJob &Job);

} // namespace carve
