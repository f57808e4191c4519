/// \file
/// Prints the head of the page: what the tuning gained and cost, where it ran, and the table of
/// kernels. HtmlReport.cpp puts the parts together.
#pragma once

#include "Tune/Outcome/TuningReport.h"

#include <string>

namespace carve {

/// Returns the result in a sentence and in numbers, with the program's time before and after.
std::string printResult(const TuningReport &R);
/// Returns device, driver, toolkit and date, and notes on what makes the numbers less certain.
std::string printCircumstances(const TuningReport &R);
/// Returns the table of kernels. Kernels with variants link to their sections `k<number in R>`.
std::string printKernelTable(const TuningReport &R);

} // namespace carve
