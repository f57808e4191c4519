/// \file
/// A tuning's report as one self-contained page: `carve report --format=html`.
#pragma once

#include "Tune/Outcome/TuningReport.h"

#include <string>

namespace carve {

/// The page, which is HTML and well-formed XML at once. It holds its style, script and pictures,
/// names no other address, and a Content-Security-Policy forbids every request. It says all without
/// its script, which sorts, filters and shows what a mark stands for.
std::string printHtmlReport(const TuningReport &R);

} // namespace carve
