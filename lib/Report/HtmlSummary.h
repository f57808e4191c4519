/// \file
/// The head of the page: what the tuning gained and cost, where it ran, and the table of kernels.
#pragma once

#include "Tune/Outcome/TuningReport.h"

#include <string>

namespace carve {

/// The result in a sentence and in numbers, with the program's time before and after.
std::string printResult(const TuningReport &R);
/// Device, driver, toolkit, date, and what makes the numbers less certain.
std::string printCircumstances(const TuningReport &R);
/// The table of kernels; those with variants link to their sections `k<number in R>`.
std::string printKernelTable(const TuningReport &R);
/// Register-usage levels of whole units; empty where none was tried.
std::string printUnitLevels(const TuningReport &R);

} // namespace carve
