/// \file
/// A kernel's part of the page: what became of it, the two pictures, and every variant as a row.
#pragma once

#include "Tune/Outcome/TuningReport.h"

#include <string>

namespace carve {

/// Whether there is anything to show beyond the kernel's row in the table.
bool hasVariants(const KernelReport &K);

/// The section of \p K, kernel \p Number of \p R: `<section id="k0">`.
std::string printKernelSection(const TuningReport &R, const KernelReport &K, size_t Number);

/// `64 → 168`, or one of them where they are equal.
std::string changeHtml(const std::string &Before, const std::string &After);

} // namespace carve
