/// \file
/// Prints the report of `carve explain -- COMMAND` for other programs. LimitsReport.h prints it for
/// people.
#pragma once

#include "Explain/LimitsReport.h"

#include <string>

namespace carve {

/// Returns \p R with all its evidence as one JSON object; share/doc/formats.md describes it.
std::string printLimitsJson(const LimitsReport &R);

} // namespace carve
