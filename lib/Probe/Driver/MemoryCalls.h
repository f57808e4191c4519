/// \file
/// The driver calls that have to do with memory and that DriverCalls.def does not name: those of a
/// newer driver. What they mean for a replay cannot be said.
#pragma once

#include "Probe/Driver/CuptiApi.h"

#include <string_view>
#include <vector>

namespace carve::probe {

/// Whether the call \p Name, as CUPTI has it, may give, take, map, share or change memory, to judge
/// by its name. Calls that only tell something do not count.
bool isMemoryCall(std::string_view Name);

/// All such calls of \p Cupti's that have not the role Gated. None where this CUPTI does not tell
/// its calls' names.
std::vector<CUpti_CallbackId> unknownMemoryCalls(const CuptiApi &Cupti);

} // namespace carve::probe
