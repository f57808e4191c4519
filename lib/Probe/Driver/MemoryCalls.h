/// \file
/// Finds driver calls that concern memory and that DriverCalls.def does not have, because the
/// driver is newer than the list. What they mean for a replay is unknown.
#pragma once

#include "Probe/Driver/CuptiApi.h"

#include <string_view>
#include <vector>

namespace carve::probe {

/// Returns whether the call \p Name (CUPTI's name of it) may allocate, free, map, share or change
/// memory, judged by its name. Calls that only return information do not count.
bool isMemoryCall(std::string_view Name);

/// Returns all such calls of \p Cupti without the role Gated. The result is empty if this CUPTI
/// does not tell the names of calls.
std::vector<CUpti_CallbackId> unknownMemoryCalls(const CuptiApi &Cupti);

} // namespace carve::probe
