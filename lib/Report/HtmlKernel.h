/// \file
/// Prints one kernel's part of the page: its outcome, its two plots, and each variant as a row of a
/// table. HtmlReport.cpp puts the parts together.
#pragma once

#include "Tune/Outcome/TuningReport.h"

#include <string>

namespace carve {

/// True if there is more to show than the kernel's row in the table of kernels.
bool hasVariants(const KernelReport &K);

/// Returns the section of \p K, which is kernel \p Number of \p R: `<section id="k0">`.
std::string printKernelSection(const TuningReport &R, const KernelReport &K, size_t Number);

/// Returns `64 → 168`, or only one of them if they are equal. Both must already be markup.
std::string changeHtml(const std::string &Before, const std::string &After);

} // namespace carve
