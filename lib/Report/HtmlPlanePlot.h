/// \file
/// Efficiency against utilization of a kernel's variants, with their Pareto front: why the carver
/// let some of them go.
#pragma once

#include "Report/HtmlVariant.h"

namespace carve {

/// As printTimePlot(); empty where fewer than two of \p Variants have both metrics. Axes are
/// relative to the best, and logarithmic where values span more than a factor of 10.
std::string printPlanePlot(llvm::ArrayRef<ShownVariant> Variants, SpillMeasure Measure,
                           llvm::StringRef Id);

} // namespace carve
