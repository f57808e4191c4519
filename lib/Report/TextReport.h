/// \file
/// Prints a tuning's report as text for a terminal.
#pragma once

#include "Tune/Outcome/TuningReport.h"

#include <string>

namespace carve {

/// Returns one line with the result and then a table: kernel, share of GPU time, registers,
/// occupancy and spills before and after, speedup with its interval, and why a kernel was not
/// tuned. \p Width is the terminal's width in columns; kernel names are shortened to fit.
std::string printTextReport(const TuningReport &R, unsigned Width = 100);

} // namespace carve
