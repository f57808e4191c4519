/// \file
/// Prints a tuning's report as one self-contained page, for `carve report --format=html`. The parts
/// come from HtmlSummary.h and HtmlKernel.h.
#pragma once

#include "Tune/Outcome/TuningReport.h"

#include <string>

namespace carve {

/// Returns the page, which is both HTML and well-formed XML. It contains its style, script and
/// plots and refers to no other address, and a Content-Security-Policy forbids every request. All
/// information is visible without the script, which sorts, filters and shows the description of a
/// mark.
std::string printHtmlReport(const TuningReport &R);

} // namespace carve
