/// \file
/// The report of `carve explain -- COMMAND` for programs.
#pragma once

#include "Explain/LimitsReport.h"

#include <string>

namespace carve {

/// The same with all the evidence, as one JSON object; share/doc/formats.md describes it.
std::string printLimitsJson(const LimitsReport &R);

} // namespace carve
