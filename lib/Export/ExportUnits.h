/// \file
/// The first stage of an export: the units of the project, with the decisions that hold for their
/// kernels.
#pragma once

#include "Export/ExportJob.h"

namespace carve {

/// What the report says of the item's kernel: of this very kernel of this source, as it was
/// compiled then. Null where there is nothing.
const KernelReport *reportOf(const ExportJob &Job, const ExportItem &Item);

/// Reads the units of the project and the decisions that hold for their kernels.
llvm::Error collectDecisions(ExportJob &Job);

} // namespace carve
