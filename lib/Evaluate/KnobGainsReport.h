/// \file
/// Prints what each knob gained, as a table for people or as JSON. `carve evaluate --knobs` ends
/// with it.
#pragma once

#include "Evaluate/KnobGains.h"

#include <string>

namespace carve {

/// Returns a table with a line for each knob, and below it what the columns mean.
std::string printKnobGainsText(const KnobGains &G);
/// Returns the same as one JSON object (share/doc/formats.md).
std::string printKnobGainsJson(const KnobGains &G);

} // namespace carve
