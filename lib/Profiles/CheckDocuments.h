/// \file
/// Prints the outcome of `carve check` for CI servers (JUnit XML) and for code scanning
/// (SARIF 2.1.0). CheckReport.h prints it for people.
#pragma once

#include "Profiles/CheckReport.h"

#include <string>

namespace carve {

/// Returns a suite with one case for each kernel and property. A property that is not judged is
/// skipped.
std::string printCheckJUnit(const CheckOutcome &Outcome, const CheckDocument &Of);
/// Returns one result for each regression. It points to the kernel's definition if its source is
/// known.
std::string printCheckSarif(const CheckOutcome &Outcome, const CheckDocument &Of);

} // namespace carve
