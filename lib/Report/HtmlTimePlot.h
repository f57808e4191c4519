/// \file
/// Draws the main plot of a kernel: the time of its variants against their registers, with the
/// concurrency levels in the background, the variants without a time below, and the spill traffic
/// on the same axis under that. HtmlKernel.cpp puts it into the page.
#pragma once

#include "Report/HtmlVariant.h"

namespace carve {

/// Draws \p Variants (shownVariants()) of \p K as an SVG in HTML, with the marks in the order of
/// registers. The plot is as wide as its container: horizontal positions are percentages, so that
/// text keeps its size. \p Id must be unique in the page.
std::string printTimePlot(const KernelReport &K, llvm::ArrayRef<ShownVariant> Variants,
                          SpillMeasure Measure, llvm::StringRef Id);

} // namespace carve
