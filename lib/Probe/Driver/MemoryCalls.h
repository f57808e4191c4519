/// \file
/// Finds driver calls that concern memory or executable graphs and that DriverCalls.def does not
/// have, because the driver is newer than the list. What they mean for a timing run is unknown.
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

/// Returns whether the call \p Name may make, change or launch an executable graph, judged by its
/// name.
bool isGraphCall(std::string_view Name);

/// Returns all such calls of \p Cupti that DriverCalls.def does not have. The result is empty if
/// this CUPTI does not tell the names of calls.
std::vector<CUpti_CallbackId> unknownGraphCalls(const CuptiApi &Cupti);

} // namespace carve::probe
