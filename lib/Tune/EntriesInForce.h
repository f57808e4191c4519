/// \file
/// Says in how much of a traced run the guards of the further entries held that the program's
/// objects have. The values that a program passes may change after it was tuned; it is as right as
/// before then, but takes nvcc's code. Tunings and `carve explain` tell the user.
#pragma once

#include "Search/EntryGuard.h"
#include "Store/UnitStore.h"
#include "Workload/ProbeRecords.h"

#include <map>

namespace carve {

/// Returns the further entries of the kernels that \p Trace has launched, by mangled name, each
/// with how much of the run its guard held in. They are those of the decision in the store, or in
/// the profile that the kernel's unit was last compiled with, that holds for the kernel's code.
/// Kernels without entries are not in the result. A unit that cannot be read is logged and left
/// out.
std::map<std::string, std::vector<EntryHold>> entriesInForce(const ProbeRecord &Trace,
                                                             const UnitStore &Store);

} // namespace carve
