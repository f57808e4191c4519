/// \file
/// Assembles one module per unit with the clones of all variants that are timed together.
/// VariantRounds calls it after it has selected the variants.
#pragma once

#include "Tune/Variants/JoinedModules.h"

namespace carve {

/// Makes every module of \p Job that has marked variants (JobVariant::InModule), several in
/// parallel: \p Joined joins it, and if that is not possible, ptxas assembles it once more. Sets
/// ModuleBuild::Cubin, and the resources and code digests of the variants. The image of a module
/// without marked variants is cleared. Clones that ptxas refuses lose their mark, and the reason is
/// added to KernelBuild::Dropped.
void assembleVariants(const TuningJob &Job, VariantCompiler &Compiler, const JoinedModules &Joined,
                      const JobSources &Sources, const JobContext &Context, JobBuild &Built);

} // namespace carve
