/// \file
/// The outcome of `carve check` for CI servers (JUnit XML) and for code scanning (SARIF 2.1.0).
#pragma once

#include "Profiles/CheckReport.h"

#include <string>

namespace carve {

/// A suite with a case for each kernel and property; what is not judged is skipped.
std::string printCheckJUnit(const CheckOutcome &Outcome, const CheckDocument &Of);
/// A result for each regression, at the kernel's definition where its source is known.
std::string printCheckSarif(const CheckOutcome &Outcome, const CheckDocument &Of);

} // namespace carve
