/// \file
/// The first stage of an export: reads the units of the project and the decisions that apply to
/// their kernels.
#pragma once

#include "Export/ExportJob.h"

namespace carve {

/// Returns the report's entry for the item's kernel: the same kernel of the same source, compiled
/// to the same registers. Returns null if the report has none.
const KernelReport *reportOf(const ExportJob &Job, const ExportItem &Item);

/// Reads the units of the project and the decisions that apply to their kernels into \p Job. Fails
/// if the store has no unit of the project, or if none has a kernel that the user named.
llvm::Error collectDecisions(ExportJob &Job);

} // namespace carve
