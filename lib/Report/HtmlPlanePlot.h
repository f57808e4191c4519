/// \file
/// Draws the efficiency of a kernel's variants against their utilization, with the Pareto front.
/// The plot shows why the carver dropped some of them. HtmlKernel.cpp puts it into the page.
#pragma once

#include "Report/HtmlVariant.h"

namespace carve {

/// Returns the plot as an SVG, with the same conventions as printTimePlot(). Returns an empty text
/// if fewer than two of \p Variants have both metrics. Axes are relative to the best value, and
/// logarithmic if values span more than a factor of 10.
std::string printPlanePlot(llvm::ArrayRef<ShownVariant> Variants, SpillMeasure Measure,
                           llvm::StringRef Id);

} // namespace carve
