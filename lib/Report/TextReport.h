/// \file
/// A tuning's report as a person reads it in a terminal.
#pragma once

#include "Tune/Outcome/TuningReport.h"

#include <string>

namespace carve {

/// One line of result, then a table: kernel, share of GPU time, registers, occupancy and spills
/// before and after, speedup with its interval, and why a kernel stayed. \p Width is the
/// terminal's, in columns; kernel names are shortened to fit.
std::string printTextReport(const TuningReport &R, unsigned Width = 100);

} // namespace carve
