/// \file
/// Asks the driver into which allocation an address leads. A guard whose addresses must be apart
/// asks this: in the probe, and in programs by the code that Emit/EntryDispatch.cpp writes.
#pragma once

#include "Probe/Driver/CuptiApi.h"

#include <cstdint>

namespace carve::probe {

/// Returns where the allocation of plain device memory, that of cuMemAlloc, begins into which \p
/// Address leads; 0 if it leads into none. Memory of pools, mapped, managed, imported and host
/// memory, and variables of modules are no such allocations.
uint64_t allocationAt(const DriverApi &Driver, uint64_t Address);

} // namespace carve::probe
