/// \file
/// The picture that a tuner looks for: time against registers with the concurrency levels behind
/// it, what was carved away below, and under that the spill traffic on the same axis.
#pragma once

#include "Report/HtmlVariant.h"

namespace carve {

/// \p Variants (shownVariants()) of \p K as an SVG in HTML, its marks in the order of registers. It
/// is as wide as its place: horizontal positions are percentages, so that text keeps its size. \p
/// Id is unique in the page.
std::string printTimePlot(const KernelReport &K, llvm::ArrayRef<ShownVariant> Variants,
                          SpillMeasure Measure, llvm::StringRef Id);

} // namespace carve
